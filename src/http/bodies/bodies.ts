// The bodies of requests: read once, counted while they are in memory, and charged before they are parsed.
export { bodyLimits } from './body_limits.ts';
export { PostBody } from './post_body.ts';
export { RequestBody } from './request_body.ts';
