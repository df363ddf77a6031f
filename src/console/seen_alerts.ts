const keyOf = (projectId: string): string => `trunkline-alerts/${projectId}`;

/** The alerts that a user has dismissed in this tab, until it is closed. */
export const seenAlerts = {
  read: (projectId: string): string[] => {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(projectId)) ?? '[]');
      return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [];
    } catch {
      return [];
    }
  },
  keep: (projectId: string, ids: readonly string[]): void => {
    try {
      sessionStorage.setItem(keyOf(projectId), JSON.stringify(ids));
    } catch {
      // Nothing is lost but a convenience.
    }
  },
};
