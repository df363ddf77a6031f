/** Returns what is there under a name: own members only, so that a name of the language names data like any other. */
export const valueOf = (values: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined;
