import { ask, byId, make, send, tell } from "./common.js";

let chosen = null;

async function list() {
  const { files, chosen: wanted } = await ask("/api/files");
  byId("files").replaceChildren(...files.map((file) => make("li", {}, make("button", { type: "button", onclick: () => pick(file).catch(() => {}) },
    `${file.project ? "Open" : "Begin with"} ${file.name}`), " ", make("span", { class: "soft" }, size(file.size)))));
  if (!files.length) byId("files").append(make("li", { class: "soft" }, "No data file here yet."));
  const file = files.find((one) => one.name === wanted);
  if (file) await pick(file);
}

const size = (n) => (n < 1e6 ? `${Math.ceil(n / 1000)} kB` : `${(n / 1e6).toFixed(1)} MB`);

async function pick(file) {
  if (file.project) {
    await send("/api/open", { name: file.name });
    location.href = "/group";
    return;
  }
  chosen = await ask("/api/preview", { file: file.name });
  byId("setup").hidden = false;
  byId("setup-title").textContent = `What is in ${file.name}`;
  const names = chosen.fields.map((field) => field.name);
  options("id", [["", "none: rows are numbered"], ...names.map((n) => [n, n])], chosen.guess.id || "");
  options("cluster", [["", "none is known"], ...names.map((n) => [n, n])], chosen.guess.cluster || "");
  byId("kind").value = "auto";
  byId("guess").textContent = `looks like ${chosen.guess.kind}`;
  byId("fields").replaceChildren(...chosen.fields.map((field) => make("label", { class: "check" },
    make("input", { type: "checkbox", value: field.name, checked: chosen.guess.fields.includes(field.name) }),
    field.name, make("span", { class: "soft" }, field.holds))));
  byId("rows").replaceChildren(make("thead", {}, make("tr", {}, ...names.map((n) => make("th", { scope: "col" }, n)))),
    make("tbody", {}, ...chosen.rows.map((row) => make("tr", {}, ...row.map((value) => make("td", {}, value))))));
  byId("id").focus();
}

function options(id, held, value) {
  byId(id).replaceChildren(...held.map(([key, text]) => make("option", { value: key }, text)));
  byId(id).value = value;
}

byId("begin").addEventListener("submit", async (event) => {
  event.preventDefault();
  const [id, cluster] = [byId("id").value, byId("cluster").value];
  const fields = [...byId("fields").querySelectorAll("input:checked")].map((box) => box.value).filter((f) => f !== id && f !== cluster);
  try {
    await send("/api/begin", { file: chosen.file, id, cluster, kind: byId("kind").value, fields });
    await send("/api/learn");
    location.href = "/learn";
  } catch (error) { /* told already */ }
});

byId("upload").addEventListener("change", async () => {
  const [file] = byId("upload").files;
  if (!file) return;
  const response = await fetch(`/api/upload?${new URLSearchParams({ name: file.name })}`,
    { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file });
  const held = await response.json().catch(() => ({ error: `refused (${response.status})` }));
  if (!response.ok) { tell(held.error); return; }
  await list();
  await pick({ name: held.name });
});

list().catch(() => {});
