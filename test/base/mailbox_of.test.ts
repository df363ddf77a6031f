import { expect, test } from 'vitest';
import { mailboxOf } from '../../src/base/email_address.ts';

test.each([
  ['ann@example.com', 'ann@example.com'],
  ['Ann@Example.COM', 'ann@example.com'],
  ['  ann@example.com. ', 'ann@example.com'],
  ['ann+shop@example.com', 'ann@example.com'],
  ['ann+a+b@example.com', 'ann@example.com'],
  ['+ann@example.com', '+ann@example.com'],
  ['a.n.n@example.com', 'a.n.n@example.com'],
  ['a.n.n+x@gmail.com', 'ann@gmail.com'],
  ['a.n.n@GoogleMail.com', 'ann@gmail.com'],
  ['"ann"@example.com', 'ann@example.com'],
  ['"a\\nn+x"@example.com', 'ann@example.com'],
  ['ann@bücher.example', 'ann@xn--bcher-kva.example'],
  ['ann@BÜCHER.example', 'ann@xn--bcher-kva.example'],
  ['ann@xn--bcher-kva.example', 'ann@xn--bcher-kva.example'],
  ['ann@example。com', 'ann@example.com'],
])('%s leads to the mailbox %s', (written, mailbox) => {
  expect(mailboxOf(written)).toBe(mailbox);
  expect(mailboxOf(mailbox)).toBe(mailbox);
});
