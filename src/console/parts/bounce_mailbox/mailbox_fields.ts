import type { Provider } from '../../api.ts';

export type Mailbox = NonNullable<Provider['bounce_mailbox']>;

/** What a form holds of a mailbox: each value as it is typed. */
export type TypedMailbox = {
  host: string;
  port: string;
  secure: string;
  username: string;
  password: string;
  folder: string;
  bounce_address: string;
  verp: boolean;
  after_read: string;
  move_to: string;
};

export const SECURE = [
  { value: 'ssl', label: 'TLS from the first byte (port 993)' },
  { value: 'starttls', label: 'STARTTLS (usual for port 143)' },
  { value: 'none', label: 'None: in-house servers only' },
];

export const AFTER_READ = [
  { value: 'mark_seen', label: 'Mark it as read' },
  { value: 'move', label: 'Move it to a folder' },
  { value: 'delete', label: 'Delete it' },
];

const NEW: TypedMailbox = {
  host: '',
  port: '993',
  secure: 'ssl',
  username: '',
  password: '',
  folder: 'INBOX',
  bounce_address: '',
  verp: false,
  after_read: 'mark_seen',
  move_to: '',
};

/** A mailbox as it stands in the form; a new one without any. */
export const toTypedMailbox = (mailbox: Mailbox | null): TypedMailbox =>
  mailbox === null
    ? NEW
    : {
        host: mailbox.host,
        port: String(mailbox.port),
        secure: mailbox.secure,
        username: mailbox.username,
        password: '',
        folder: mailbox.folder,
        bounce_address: mailbox.bounce_address ?? '',
        verp: mailbox.verp,
        after_read: mailbox.after_read,
        move_to: mailbox.move_to ?? '',
      };

/** What is sent of what was typed. A password that is left empty stays as it is. */
export const toGivenMailbox = (typed: TypedMailbox): Record<string, unknown> => {
  const { host, port, secure, username, password, folder, verp, after_read } = typed;
  const [address, moveTo] = [typed.bounce_address.trim(), typed.move_to.trim()];
  return {
    host: host.trim(),
    port: /^\d{1,6}$/.test(port.trim()) ? Number(port) : port,
    secure,
    username: username.trim(),
    ...(password === '' ? {} : { password }),
    folder: folder.trim(),
    bounce_address: address === '' ? null : address,
    verp,
    after_read,
    move_to: after_read === 'move' && moveTo !== '' ? moveTo : null,
  };
};

/** The field that a refusal of the mailbox is about. */
export const SUSPECTS: Partial<Record<string, keyof TypedMailbox>> = {
  bounce_mailbox_unreachable: 'host',
  bounce_mailbox_tls_required: 'secure',
  bounce_mailbox_starttls_not_offered: 'secure',
  bounce_mailbox_certificate_invalid: 'host',
  bounce_mailbox_login_refused: 'password',
  bounce_mailbox_folder_missing: 'folder',
};
