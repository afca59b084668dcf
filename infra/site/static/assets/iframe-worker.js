// A page that is opened from disk may not start a worker from a file, and search is one. There, a hidden frame runs the
// worker's script. A script that the page has made itself, as the playground does, runs in a worker there too.
if (location.protocol === "file:") {
  const Native = window.Worker
  window.Worker = class extends EventTarget {
    constructor(script) {
      super()
      if (`${script}`.startsWith("blob:")) return new Native(script)
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.srcdoc = `<script src="${new URL(script, location.href)}" defer></` + "script>"
      this.inside = new Promise(resolve => frame.addEventListener("load", () => resolve(frame.contentWindow)))
      this.inside.then(inside => {
        inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      })
      this.frame = frame
      document.head.append(frame)
    }
    postMessage(data) {
      this.inside.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
