import type { Config } from '../config.ts';
import { isLoopbackHost } from './loopback.ts';

/** Where links in emails lead. */
export type PublicAddress = Pick<Config, 'publicUrl' | 'isPublicUrlSet'>;

/** Whether people elsewhere can open links: PUBLIC_URL is set, and names another host than this machine. */
export const isPublic = ({ publicUrl, isPublicUrlSet }: PublicAddress): boolean =>
  isPublicUrlSet && !isLoopbackHost(new URL(publicUrl).hostname);
