import { Analytics } from '@segment/analytics-node';

const analytics = new Analytics({
  writeKey: 'svc_secret_live_…',
  host: 'https://trunkline.example.com',
  path: '/segment/v1/batch',
});

analytics.track({ userId: 'ann', event: 'Order Completed', properties: { total: 12.5 } });

await analytics.closeAndFlush();
