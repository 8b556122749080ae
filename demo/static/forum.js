// Goes to the linked post, and fetches new and changed posts of the open topic. The pages work without it.
"use strict";

const posts = document.getElementById("posts");
const target = document.querySelector("[data-target]");
if (target && !location.hash) {
  target.scrollIntoView({ block: "start" });
  target.focus({ preventScroll: true });
}

if (posts) {
  const waiting = document.getElementById("waiting");
  const arrived = document.getElementById("arrived");
  const opened = Date.now();
  let since = posts.dataset.now;
  let expecting = !waiting.hidden;

  const put = (post) => {
    const old = document.getElementById(post.id);
    if (old && old.dataset.version === post.dataset.version) return;
    if (old) {
      post.classList.remove("fresh");
      old.replaceWith(post);
      return;
    }
    const number = Number(post.dataset.number);
    const next = [...posts.children].find((other) => Number(other.dataset.number) > number);
    posts.insertBefore(post, next || null);
    arrived.textContent = posts.dataset.arrived.replace("NAME", post.dataset.username);
    if (expecting && post.classList.contains("bot")) {
      post.scrollIntoView({ block: "center", behavior: "smooth" });
    }
  };

  const look = async () => {
    try {
      const address = `${posts.dataset.news}?since=${encodeURIComponent(since)}`;
      const answer = await fetch(address, { headers: { Accept: "application/json" } });
      if (answer.ok) {
        const news = await answer.json();
        const parsed = document.createElement("template");
        parsed.innerHTML = news.html; // our own server's rendering of cooked posts
        [...parsed.content.children].forEach(put);
        news.gone.forEach((number) => document.getElementById(`post_${number}`)?.remove());
        waiting.hidden = !news.waiting;
        expecting = news.waiting;
        since = news.now;
        if (news.waiting && Date.now() - opened > 60000) {
          document.getElementById("waiting-text").textContent = posts.dataset.long;
        }
      }
    } catch {
      // the forum is away for a moment; the next look will tell
    }
    setTimeout(look, expecting || Date.now() - opened < 120000 ? 2000 : 10000);
  };
  setTimeout(look, 1000);
}

document.querySelectorAll(".write form").forEach((form) => {
  form.addEventListener("submit", () => {
    setTimeout(() => form.querySelectorAll("button").forEach((button) => { button.disabled = true; }), 0);
  });
});
