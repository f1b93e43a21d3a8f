// A browser starts no worker for a page that was opened from disk, and the search of this site asks for one. A hidden
// frame takes its place there. The name of this file tells the plugin "offline" to load no other one from the network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.documentElement.append(frame);
      this.frame = frame;
      const inside = frame.contentWindow;
      // What the worker's script finds in its place: it answers by `postMessage`, and may ask for more scripts.
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) =>
        urls.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve());
      this.ready = this.load(new URL(url, document.baseURI));
    }

    load(url) {
      const page = this.frame.contentDocument;
      return new Promise((done, failed) => {
        const script = Object.assign(page.createElement("script"), { src: url, onload: done, onerror: failed });
        page.head.append(script);
      });
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
