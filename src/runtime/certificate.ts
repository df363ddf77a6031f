import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';

/** A server certificate with its key, and the authority to trust for it; all PEM. */
export type Certificate = { ca: string; cert: string; key: string };

const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 365 * DAY_MS;
/** A kept certificate with less than this left is made again. */
export const RENEW_BEFORE_MS = 30 * DAY_MS;
const OWNER_ONLY = 0o600;

const toAltName = (host: string) =>
  isIP(host) === 0 ? { type: 2 as const, value: host } : { type: 7 as const, ip: host };

/**
 * Makes an authority and a server certificate signed by it, for host names and IP addresses. A
 * client that trusts only `ca` accepts the certificate for exactly these hosts.
 *
 * The authority's key is not kept, so nothing else can ever be signed with it. Its name is new
 * every time: clients find an authority by name, and two of one name would hide each other.
 */
export const makeCertificate = async (
  hosts: readonly string[],
  now: Date = new Date(),
): Promise<Certificate> => {
  const shared = {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: now,
    notAfterDate: new Date(now.getTime() + LIFETIME_MS),
  } as const;
  const name = `Trunkline local authority ${randomBytes(8).toString('hex')}`;
  const authority = await generate([{ name: 'commonName', value: name }], {
    ...shared,
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const server = await generate([{ name: 'commonName', value: 'Trunkline local server' }], {
    ...shared,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: hosts.map(toAltName) },
    ],
  });
  return { ca: authority.cert, cert: server.cert, key: server.private };
};

/** Whether a certificate is whole, signed by its authority, for all the hosts, and good until `until`. */
const isUsable = (
  { ca, cert, key }: Certificate,
  hosts: readonly string[],
  until: number,
): boolean => {
  try {
    const [authority, server] = [new X509Certificate(ca), new X509Certificate(cert)];
    return (
      server.checkIssued(authority) &&
      server.verify(authority.publicKey) &&
      server.checkPrivateKey(createPrivateKey(key)) &&
      hosts.every((host) => (isIP(host) ? server.checkIP(host) : server.checkHost(host))) &&
      [authority, server].every(({ validTo }) => Date.parse(validTo) > until)
    );
  } catch {
    return false;
  }
};

const FILES = { ca: 'ca.pem', cert: 'cert.pem', key: 'key.pem' } as const;

/** What the folder holds, or null where a file is missing or others could have read the key. */
const findKept = async (folder: string): Promise<Certificate | null> => {
  const read = (file: string) => readFile(join(folder, file), 'utf8');
  try {
    const { mode } = await stat(join(folder, FILES.key));
    if ((mode & 0o077) !== 0) return null;
    const [ca, cert, key] = await Promise.all([read(FILES.ca), read(FILES.cert), read(FILES.key)]);
    return { ca, cert, key };
  } catch {
    return null;
  }
};

/** Written beside and renamed, so that a file is never half there, nor the key readable for a moment. */
const write = async (folder: string, file: string, text: string): Promise<void> => {
  const path = join(folder, file);
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, text, { mode: OWNER_ONLY });
  if (file !== FILES.key) await chmod(draft, 0o644);
  await rename(draft, path);
};

/**
 * The certificate kept in a folder as ca.pem, cert.pem and key.pem. Makes it where there is none, and
 * again when it is damaged, does not name all the hosts, or has less than RENEW_BEFORE_MS left.
 */
export const keepCertificate = async (
  folder: string,
  hosts: readonly string[],
  now: Date = new Date(),
): Promise<Certificate> => {
  const kept = await findKept(folder);
  if (kept && isUsable(kept, hosts, now.getTime() + RENEW_BEFORE_MS)) return kept;
  const made = await makeCertificate(hosts, now);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await write(folder, FILES.key, made.key);
  await write(folder, FILES.cert, made.cert);
  await write(folder, FILES.ca, made.ca);
  return made;
};

/** Makes this process trust one more authority, beside those it trusts already. */
export const trustAuthority = (ca: string): void =>
  setDefaultCACertificates([...getCACertificates('default'), ca]);

/** The opposite of `trustAuthority`. */
export const distrustAuthority = (ca: string): void => {
  const fingerprint = new X509Certificate(ca).fingerprint256;
  setDefaultCACertificates(
    getCACertificates('default').filter(
      (other) => new X509Certificate(other).fingerprint256 !== fingerprint,
    ),
  );
};
