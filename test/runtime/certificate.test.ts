import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  distrustAuthority,
  keepCertificate,
  makeCertificate,
  RENEW_BEFORE_MS,
  trustAuthority,
} from '../../src/runtime/certificate.ts';
import type { Certificate } from '../../src/runtime/certificate.ts';

const HOSTS = ['localhost', 'mail.trunkline.test', '127.0.0.1', '::1'];
const LIFETIME_MS = 365 * 24 * 60 * 60 * 1000;

/** What a client with full validation says of a server with this certificate: 'trusted', or the error's code. */
const shake = async (certificate: Certificate, client: ConnectionOptions): Promise<string> => {
  const server = createServer({ cert: certificate.cert, key: certificate.key });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, ...client });
  try {
    return await once(socket, 'secureConnect').then(
      () => (socket.authorized ? 'trusted' : 'not authorized'),
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
  } finally {
    socket.destroy();
    server.close();
  }
};

describe('a made certificate', () => {
  test('is accepted for each of its names by a client that trusts only its authority', async () => {
    const certificate = await makeCertificate(HOSTS);
    const { ca } = certificate;
    expect(await shake(certificate, { ca, servername: 'localhost' })).toBe('trusted');
    expect(await shake(certificate, { ca, servername: 'mail.trunkline.test' })).toBe('trusted');
    expect(await shake(certificate, { ca, host: '127.0.0.1' })).toBe('trusted');
    const server = new X509Certificate(certificate.cert);
    expect(server.checkIP('::1')).toBe('::1');
  });

  test('is accepted over TLS 1.2 and 1.3', async () => {
    const certificate = await makeCertificate(HOSTS);
    const client = { ca: certificate.ca, servername: 'localhost' };
    expect(await shake(certificate, { ...client, maxVersion: 'TLSv1.2' })).toBe('trusted');
    expect(await shake(certificate, { ...client, minVersion: 'TLSv1.3' })).toBe('trusted');
  });

  test('is refused for another name', async () => {
    const certificate = await makeCertificate(['mail.trunkline.test']);
    const { ca } = certificate;
    expect(await shake(certificate, { ca, servername: 'localhost' })).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
    expect(await shake(certificate, { ca, host: '127.0.0.1' })).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
  });

  test('is refused by a client that trusts another authority, or the usual ones', async () => {
    const [certificate, other] = await Promise.all([
      makeCertificate(HOSTS),
      makeCertificate(HOSTS),
    ]);
    expect(await shake(certificate, { ca: other.ca, servername: 'localhost' })).not.toBe('trusted');
    expect(await shake(certificate, { servername: 'localhost' })).not.toBe('trusted');
  });

  test('is refused after its year', async () => {
    const before = new Date(Date.now() - LIFETIME_MS - 60_000);
    const certificate = await makeCertificate(HOSTS, before);
    expect(await shake(certificate, { ca: certificate.ca, servername: 'localhost' })).toBe(
      'CERT_HAS_EXPIRED',
    );
  });

  test('cannot sign another: it is no authority, and its key is not that of its authority', async () => {
    const certificate = await makeCertificate(HOSTS);
    expect(new X509Certificate(certificate.cert).ca).toBe(false);
    expect(new X509Certificate(certificate.ca).ca).toBe(true);
    const key = createPrivateKey(certificate.key);
    expect(new X509Certificate(certificate.ca).checkPrivateKey(key)).toBe(false);
  });
});

describe('trust in this process', () => {
  test('holds for several authorities at once, and ends for one without the others', async () => {
    const [one, two] = await Promise.all([makeCertificate(HOSTS), makeCertificate(HOSTS)]);
    trustAuthority(one.ca);
    trustAuthority(two.ca);
    expect(await shake(one, { servername: 'localhost' })).toBe('trusted');
    expect(await shake(two, { servername: 'localhost' })).toBe('trusted');
    distrustAuthority(one.ca);
    expect(await shake(one, { servername: 'localhost' })).not.toBe('trusted');
    expect(await shake(two, { servername: 'localhost' })).toBe('trusted');
    distrustAuthority(two.ca);
    expect(await shake(two, { servername: 'localhost' })).not.toBe('trusted');
  });
});

describe('a kept certificate', () => {
  let folder: string;
  const keep = (hosts = HOSTS, now = new Date()) =>
    keepCertificate(join(folder, 'tls'), hosts, now);
  const path = (file: string) => join(folder, 'tls', file);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunkline-certificate-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('is made once and found again', async () => {
    const made = await keep();
    expect(await keep()).toEqual(made);
    expect(await readFile(path('ca.pem'), 'utf8')).toBe(made.ca);
    expect(await shake(made, { ca: made.ca, servername: 'localhost' })).toBe('trusted');
    expect((await readdir(join(folder, 'tls'))).toSorted()).toEqual([
      'ca.pem',
      'cert.pem',
      'key.pem',
    ]);
  });

  test('has a key that only its owner reads', async () => {
    await keep();
    expect((await stat(path('key.pem'))).mode & 0o777).toBe(0o600);
    expect((await stat(path('ca.pem'))).mode & 0o777).toBe(0o644);
  });

  test('is made again when others could have read its key', async () => {
    const made = await keep();
    await chmod(path('key.pem'), 0o644);
    expect((await keep()).key).not.toBe(made.key);
    expect((await stat(path('key.pem'))).mode & 0o777).toBe(0o600);
  });

  test('is kept until 30 days before its end, and made again from then on', async () => {
    const start = new Date('2026-01-01T00:00:00Z');
    const renewAt = start.getTime() + LIFETIME_MS - RENEW_BEFORE_MS;
    const made = await keep(HOSTS, start);
    expect(await keep(HOSTS, new Date(renewAt - 1000))).toEqual(made);
    const renewed = await keep(HOSTS, new Date(renewAt));
    expect(renewed.cert).not.toBe(made.cert);
    expect(await keep(HOSTS, new Date(renewAt))).toEqual(renewed);
  });

  test('is made again for a host that it does not name', async () => {
    const made = await keep(['localhost']);
    expect((await keep(['localhost', '127.0.0.1'])).cert).not.toBe(made.cert);
  });

  test.each(['ca.pem', 'cert.pem', 'key.pem'])('is made again when %s is damaged', async (file) => {
    await keep();
    await writeFile(path(file), 'not a certificate');
    const again = await keep();
    expect(await shake(again, { ca: again.ca, servername: 'localhost' })).toBe('trusted');
    expect(await keep()).toEqual(again);
  });

  test('is made again when its files do not belong together', async () => {
    await keep();
    const other = await makeCertificate(HOSTS);
    await writeFile(path('key.pem'), other.key);
    const again = await keep();
    expect(again.key).not.toBe(other.key);
    expect(await shake(again, { ca: again.ca, servername: 'localhost' })).toBe('trusted');
  });
});
