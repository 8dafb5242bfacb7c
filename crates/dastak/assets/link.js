"use strict";
// The token stands behind the #, which browsers send to no server. It is used only when the button is pressed, so that a
// scanner of mail that opens the page does not burn it.
const token = location.hash.slice(1);
const invited = location.pathname.endsWith("/invitation");
const element = (id) => document.getElementById(id);
history.replaceState(null, "", location.pathname);
if (invited) {
  element("says").textContent = "You are invited. If you have an account already, your password is enough.";
  element("name-label").hidden = false;
  element("password-label").firstChild.textContent = "Password, 10 characters or more";
}
element("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = { token };
  for (const field of ["name", "password"]) {
    if (element(field).value !== "") body[field] = element(field).value;
  }
  const path = invited ? "/console/api/invitations/accept" : "/console/api/sign-in/link";
  element("outcome").textContent = "…";
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const shown = await answer.json();
    if (answer.ok) {
      element("form").hidden = true;
      element("outcome").textContent = `Signed in as ${shown.data.name}. You may close this page.`;
      const console = await fetch("/console/", { method: "HEAD" });
      if (console.ok) location.replace("/console/");
    } else {
      element("outcome").textContent = shown.error;
    }
  } catch {
    element("outcome").textContent = "The service did not answer. Try again.";
  }
});
