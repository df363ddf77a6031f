const KEY = 'trunkline-project';

/** The project that was open last in this browser. A browser that keeps nothing is fine. */
export const lastProject = {
  read: (): string | null => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  },
  keep: (projectId: string): void => {
    try {
      localStorage.setItem(KEY, projectId);
    } catch {
      // Nothing is lost but a convenience.
    }
  },
};
