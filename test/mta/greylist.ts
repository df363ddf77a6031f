import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { once } from 'node:events';

/** Which messages a relay has seen, and since when: by sender and recipient. */
export class SeenPairs {
  readonly #seen = new Map<string, number>();

  /** Whether a pair was seen first less than so many seconds ago. */
  isNew(sender: string, recipient: string, seconds: number): boolean {
    const pair = `${sender} ${recipient}`;
    const since = this.#seen.get(pair) ?? Date.now();
    this.#seen.set(pair, since);
    return Date.now() - since < seconds * 1_000;
  }
}

/** Listens on a port of this machine; what connects is closed with it. */
export const listenFor = async (onSocket: (socket: Socket) => void): Promise<Server> => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Answers Exim as Debian's greylistd does: `--grey <sender> <recipient>` with `true` or `false`. */
export class Greylist {
  seconds = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Greylist> {
    const pairs = new SeenPairs();
    const server = await listenFor((socket) => {
      socket.once('data', (line) => {
        const [, sender = '', recipient = ''] = String(line).trim().split(' ');
        socket.end(String(pairs.isNew(sender, recipient, greylist.seconds)));
      });
    });
    const greylist: Greylist = new Greylist(server);
    return greylist;
  }

  get port(): number {
    return portOf(this.#server);
  }

  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }
}
