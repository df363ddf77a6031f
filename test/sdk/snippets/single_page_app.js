import { init } from 'trunkline/browser';

const trunkline = init({ apiKey: 'svc_pub_live_…', apiHost: 'https://trunkline.example.com' });

export const onSignIn = (user) => trunkline.identify(user.id, { email: user.email });
export const onOrder = (order) => trunkline.track('order_completed', { total: order.total });
export const onSignOut = () => trunkline.reset();
