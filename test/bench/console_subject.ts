/** A project and what of it is asked about by name. */
export type Subject = {
  projectId: string;
  until: Date;
  /** Somebody in the middle of the past, who was mailed and is on their way, with a device. */
  person: { externalId: string; anonymousId: string; email: string; profileId: string };
  sendId: string;
  linkId: string;
  middleEntry: number;
  /** Addresses that are left alone, and that want no more. */
  suppressed: string;
  unsubscribed: string;
  automationId: string;
  segmentIds: string[];
  templateId: string;
  providerId: string;
  endpointId: string;
  /** Who changed most, and who changed little, long ago. */
  busyId: string;
  idleId: string;
  /** Of whom there are two thousand events. */
  busyProfileId: string;
};
