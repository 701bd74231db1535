import { byId, make, send } from "./common.js";

byId("export").addEventListener("submit", async (event) => {
  event.preventDefault();
  const what = [...byId("export").querySelectorAll("input:checked")].map((box) => box.value);
  try {
    const found = await send("/api/export", { what });
    byId("written").hidden = false;
    byId("files").replaceChildren(...Object.entries(found.files).map(([name, file]) => make("li", {}, `${name}: `,
      make("a", { href: `/files/${encodeURIComponent(file)}`, download: file }, file))));
    byId("commands").textContent = found.commands.join("\n");
    byId("written-title").scrollIntoView({ block: "nearest" });
  } catch (error) { /* told already */ }
});
