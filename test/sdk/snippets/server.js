import { Trunkline } from 'trunkline/server';

const trunkline = new Trunkline({
  token: 'svc_secret_live_…',
  apiHost: 'https://trunkline.example.com',
});

trunkline.identify({ anonymousId: 'device-7', userId: 'ann', traits: { plan: 'pro' } });
trunkline.track('order_completed', { userId: 'ann', properties: { total: 12.5 } });

await trunkline.close();
