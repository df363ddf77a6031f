import { expect, test } from 'vitest';
import { withUnsubscribe } from '../../src/rendering/rendering.ts';

const url = `https://mail.shop.example/u/${'t'.repeat(130)}`;
const message = { subject: 'Hello', html: '<p>Hello</p>', text: 'Hello' };

test('a message that does not say how to leave gets a footer in both parts', () => {
  const { subject, html, text } = withUnsubscribe(message, url);
  expect(subject).toBe('Hello');
  expect(html).toMatch(
    /^<p>Hello<\/p>\n<div [^>]*><a href="https:[^"]+"[^>]*>Unsubscribe<\/a><\/div>$/,
  );
  expect(text).toBe(`Hello\n\n--\nUnsubscribe: ${url}\n`);
});

test('a message that shows the link itself stays as it is, part by part', () => {
  const html = `<p><a href="${url}">no more of this</a></p>`;
  const made = withUnsubscribe({ ...message, html }, url);
  expect(made.html).toBe(html);
  expect(made.text).toContain(url);
});

test.each(['</body></html>', '</BODY>\n</HTML>', '</body >'])(
  'the footer stands inside the body that ends with %j',
  (end) => {
    const { html } = withUnsubscribe({ ...message, html: `<body><p>Hi</p>${end}` }, url);
    expect(html.indexOf('Unsubscribe')).toBeLessThan(html.indexOf(end));
    expect(html.endsWith(end)).toBe(true);
  },
);

test('a link to somebody else’s unsubscribe page is not ours', () => {
  const html = '<a href="https://mail.shop.example/u/other">Unsubscribe</a>';
  expect(withUnsubscribe({ ...message, html }, url).html).toContain(url);
});
