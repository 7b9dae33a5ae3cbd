// Images and files of a question: small images are shown, all others are named.

/** Nothing for a question without images and files. */
function attachmentList(attachments) {
  if (!attachments) return null;
  const pictures = picturesOf(attachments);
  return el(
    "ul",
    { class: "attachments" },
    attachments.map(({ name, type, size, sha256 }) => {
      const picture = pictures.get(sha256);
      return el(
        "li",
        {},
        picture && el("img", { class: "attachment-picture", src: picture, alt: `Image ${name}`, loading: "lazy" }),
        el("span", { class: "attachment-name", dir: "auto" }, said(name)),
        el("span", { class: "attachment-facts" }, `${type}, ${shown(size)} bytes, SHA-256 `, el("code", { title: sha256 }, sha256.slice(0, 12))),
      );
    }),
  );
}
