import { SMTPServer } from 'smtp-server';

/** Greets at once: the library waits for a tenth of a second, with every connection, for whoever talks before. */
export class PromptSmtpServer extends SMTPServer {
  override connect(...given: Parameters<SMTPServer['connect']>): void {
    super.connect(...given);
    const connection = [...this.connections].at(-1);
    if (!connection) return;
    const greet = connection.connectionReady.bind(connection);
    // What the library's timer calls.
    connection.connectionReady = () => {};
    // After everybody has heard of the connection.
    setImmediate(greet);
  }
}
