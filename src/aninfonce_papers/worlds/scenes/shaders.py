"""What the graphics pipeline runs: one pass for the shadow, one for the picture."""

from __future__ import annotations

# The ground is drawn with the same program: its points are already where they belong.
PICTURE_VERTEX = """
#version 330
uniform mat4 camera;
uniform mat4 place;
in vec3 point;
in vec3 normal;
out vec3 world;
out vec3 facing;
void main() {
    vec4 placed = place * vec4(point, 1.0);
    world = placed.xyz;
    facing = mat3(place) * normal;
    gl_Position = camera * placed;
}
"""

PICTURE_FRAGMENT = """
#version 330
uniform vec3 eye;
uniform vec3 light;
uniform vec3 aim;           // unit vector from the light to the object
uniform vec3 light_colour;
uniform vec3 colour;
uniform float gloss;
uniform vec2 cone;          // cosine at the edge of the cone, and how much more until it is fully lit
uniform vec4 rates;         // of all-round light, sun, area light and spotlight
uniform mat4 shadow;        // world to the light's clip space
uniform vec3 tile;          // left, bottom and side of this scene's part of the shadow map
uniform sampler2DShadow depths;
in vec3 world;
in vec3 facing;
out vec4 pixel;

const vec3 SUN = normalize(vec3(0.3, -0.5, 0.8));
const vec3 AREA = vec3(0.0, -6.0, 9.0);

float unshaded() {
    vec4 seen = shadow * vec4(world, 1.0);
    vec3 spot = seen.xyz / seen.w * 0.5 + 0.5;
    vec2 texel = 1.0 / vec2(textureSize(depths, 0));
    vec2 low = tile.xy + texel, high = tile.xy + tile.z - texel;
    float open = 0.0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            vec2 at = clamp(tile.xy + spot.xy * tile.z + vec2(i, j) * texel, low, high);
            open += texture(depths, vec3(at, spot.z - 0.002));
        }
    return open / 9.0;
}

void main() {
    vec3 to_eye = normalize(eye - world);
    vec3 n = normalize(facing);
    if (dot(n, to_eye) < 0.0) n = -n;      // meshes do not say which side is outside
    vec3 ray = world - light;
    float distance = length(ray);
    vec3 to_light = -ray / distance;
    float inside = smoothstep(0.0, 1.0, (dot(-to_light, aim) - cone.x) / cone.y);
    float lit = inside * 100.0 / (distance * distance);
    if (lit > 0.0) lit *= unshaded();
    vec3 to_area = AREA - world;
    float area = max(dot(n, normalize(to_area)), 0.0) * 150.0 / dot(to_area, to_area);
    float even = rates.x + rates.y * max(dot(n, SUN), 0.0) + rates.z * area;
    vec3 spot = rates.w * lit * light_colour;
    float glint = gloss * pow(max(dot(n, normalize(to_light + to_eye)), 0.0), 30.0);
    vec3 radiance = colour * (even + spot * max(dot(n, to_light), 0.0)) + spot * glint;
    // A film's response: near the light the object keeps its shading instead of turning flat.
    pixel = vec4(pow(1.0 - exp(-1.3 * radiance), vec3(1.0 / 2.2)), 1.0);
}
"""

SHADOW_VERTEX = """
#version 330
uniform mat4 light_place;
in vec3 point;
void main() { gl_Position = light_place * vec4(point, 1.0); }
"""

SHADOW_FRAGMENT = """
#version 330
void main() {}
"""
