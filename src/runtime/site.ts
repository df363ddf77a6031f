import type { PublicAddress } from '../base/public_address.ts';
import { readSetting } from './read_setting.ts';

/** Returns where links in emails lead, by the PUBLIC_URL of this command. */
export const readSite = (): PublicAddress => {
  const publicUrl = readSetting('PUBLIC_URL');
  if (publicUrl === undefined) return { publicUrl: 'http://127.0.0.1', isPublicUrlSet: false };
  if (!URL.canParse(publicUrl))
    throw new Error('PUBLIC_URL is not an address such as https://mail.example.com');
  return { publicUrl, isPublicUrlSet: true };
};
