import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export type Passage = {
  port: number;
  /** Loses every connection, and takes none. */
  cut: () => void;
  mend: () => Promise<void>;
};

/** A way to a server that can be cut. */
export const openPassage = async (to: URL): Promise<Passage> => {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(to.port), to.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    cut: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    mend: () => listen(port),
  };
};
