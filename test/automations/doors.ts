// What automations are handed of rooms that they do not ask: here everything is there, and ready.
import type { Activation, Doors } from '../../src/automations/life.ts';

export const doors: Doors = {
  hasProvider: () => Promise.resolve(true),
  isProviderReady: () => Promise.resolve(true),
  listOutside: () => Promise.resolve([]),
  hasTemplate: () => Promise.resolve(true),
  listEventVariables: () => Promise.resolve([]),
};

/** The same for an activation, where readers can open links. */
export const activation: Activation = {
  doors,
  site: { publicUrl: 'https://mail.example.com', isPublicUrlSet: true },
};
