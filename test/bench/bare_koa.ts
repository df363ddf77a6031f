// A route that reads its JSON, answers 202 and keeps nothing: what the same stack does at best.
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';

const readAll = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const router = new Router().post('/v1/events', async (ctx) => {
  JSON.parse(await readAll(ctx.req));
  ctx.status = 202;
  ctx.body = { accepted: 1, duplicates: 0, event_ids: [] };
});
const server = new Koa().use(router.routes()).listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
