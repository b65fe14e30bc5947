// Finding and making elements of the page.

export const get = (id) => document.getElementById(id);

export function make(tag, className, ...content) {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...content);
  return made;
}

export function image(source, alt) {
  return Object.assign(make("img", "image"), { src: source, alt });
}
