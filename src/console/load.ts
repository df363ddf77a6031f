import { lazyRouteComponent } from '@tanstack/react-router';
import type { AsyncRouteComponent } from '@tanstack/react-router';
import { lazy } from 'react';
import type { ComponentType } from 'react';
import { NotReached, Replaced } from './no_code.ts';

/** Whether anything answers at all. */
export const isReached = async (): Promise<boolean> => {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
};

const sayWhy = async (cause: unknown): Promise<never> => {
  throw (await isReached())
    ? new Replaced('no code', { cause })
    : new NotReached('no code', { cause });
};

const LOADED_AGAIN = 'trunkline.loaded_again';
const AGAIN_AFTER_MS = 60_000;

/** Loads the Console again; not a second time at once, where that has not helped. */
export const loadAgainOnce = (): void => {
  if (Date.now() - Number(sessionStorage.getItem(LOADED_AGAIN)) < AGAIN_AFTER_MS) return;
  sessionStorage.setItem(LOADED_AGAIN, String(Date.now()));
  location.reload();
};

/** A page whose code is asked for when somebody goes there. */
export const pageOf = <Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): AsyncRouteComponent<object> =>
  lazyRouteComponent(() => load().catch(sayWhy), name) as AsyncRouteComponent<object>;

/** A part of a page whose code is asked for when it is shown. */
export const partOf = <Props>(load: () => Promise<{ default: ComponentType<Props> }>) =>
  lazy(() => load().catch(sayWhy));
