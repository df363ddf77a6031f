/** The decisions about a person and their meanings. `stops` marks those after which nothing follows. */
export const DECISIONS = {
  automation_draft: {
    stops: true,
    says: 'The automation was never activated: activate a version.',
  },
  automation_paused: {
    stops: true,
    says: 'The automation is paused: no person enters, and its email waits, until it is resumed.',
  },
  automation_archived: { stops: true, says: 'The automation is archived.' },
  automation_deleted: { stops: true, says: 'The automation was deleted.' },
  not_triggered: { stops: true, says: 'The trigger event is not on the timeline of this person.' },
  not_started: {
    stops: true,
    says: 'The automation is started by hand, and was not for this person.',
  },
  occurrence_late: {
    stops: true,
    says: 'The occurrence was more than an hour late in the zone of this person, and left them out.',
  },
  not_in_occurrence: {
    stops: true,
    says: 'No occurrence of the schedule has started this person. They were no member then, or none was due yet.',
  },
  not_entered: { stops: true, says: 'The person did not come into the segment.' },
  not_left: { stops: true, says: 'The person did not leave the segment.' },
  found_by_fill: {
    stops: true,
    says: 'The person was found in the segment, or gone from it, when its definition was filled.',
  },
  link_undone: { stops: true, says: 'An undone identity link changed it: that starts no run.' },
  not_read_yet: {
    stops: true,
    says: 'The person came into the segment, or left it, a moment ago: it is not processed yet.',
  },
  filter: { stops: true, says: 'The trigger event came, but a filter did not hold.' },
  source: {
    stops: true,
    says: 'A browser sent the trigger event, and the trigger counts only events of a server key.',
  },
  late: {
    stops: true,
    says: 'The event, or the events behind the segment change, came too late (late_events).',
  },
  re_entry: {
    stops: true,
    says: 'The person had been in before, and re_entry does not let them in again.',
  },
  not_active_then: {
    stops: true,
    says: 'The event came while no version was active that it would have started, or is not processed yet.',
  },
  entered: { stops: false, says: 'A run began.' },
  profile_updated: { stops: false, says: 'The profile was told something.' },
  too_many_traits: {
    stops: false,
    says: 'The profile was not told all of it: servers have told it as many traits as it may have.',
  },
  nothing_to_update: { stops: false, says: 'There was nothing to tell the profile.' },
  delayed: { stops: false, says: 'The run waits, or waited, until then.' },
  date_moved: {
    stops: false,
    says: 'The date of the person moved, or their time zone changed: the run waits until then.',
  },
  delay_over: { stops: false, says: 'The delay was over.' },
  no_date_ahead: {
    stops: false,
    says: 'The profile has no such date, or it has passed: the run goes on at `otherwise`.',
  },
  waits_for_event: { stops: false, says: 'The run waits, or waited, for an event.' },
  event_came: { stops: false, says: 'The event came in time.' },
  wait_timed_out: { stops: false, says: 'The event did not come in time.' },
  branched: { stops: false, says: 'The first branch whose conditions all hold was taken.' },
  split: { stops: false, says: 'The person belongs to this share.' },
  held_out: {
    stops: true,
    says: 'The person belongs to the share that is left alone, to compare with.',
  },
  quiet_hours: {
    stops: false,
    says: 'Quiet hours where the person is: the mail waits until they end.',
  },
  frequency_cap: {
    stops: false,
    says: 'The person has had as many mails as they may: the mail waits.',
  },
  frequency_cap_skipped: {
    stops: true,
    says: 'The person has had as many mails as they may: this one is left out.',
  },
  unconfirmed_address: {
    stops: true,
    says:
      'Only a browser asserted this address. It reached the limit for such addresses, or the template needs data ' +
      'that only a server sent. Identify the person with a server key to confirm the address.',
  },
  recipient_cap: {
    stops: true,
    says: 'The recipient has reached the cap for emails of browser-triggered runs in 24 hours.',
  },
  unconfirmed_budget: {
    stops: false,
    says: 'Only a browser asserted this address, and the hourly budget for such email is used: the email waits.',
  },
  webhook_queued: { stops: false, says: 'The endpoint is to be told.' },
  webhook_postponed: {
    stops: false,
    says: 'The endpoint did not take the call: it is called again at that time.',
  },
  webhook_delivered: { stops: false, says: 'The endpoint was told, and answered that it has it.' },
  webhook_failed: {
    stops: false,
    says: 'The endpoint was not told, or said no: on_failure, or the next step.',
  },
  webhook_left_out: {
    stops: false,
    says: 'This test calls no endpoint, because call_webhooks is not set.',
  },
  webhook_before: { stops: false, says: 'This step had told its endpoint in this run already.' },
  sent_by_other_run: {
    stops: false,
    says: 'Another run of this person sent the email of this step. A person receives it once.',
  },
  sent_before: { stops: false, says: 'This step had sent its mail in this run already.' },
  no_address: { stops: true, says: 'The profile has no e-mail address.' },
  send_queued: { stops: false, says: 'The mail was handed to delivery.' },
  send_handing_off: { stops: false, says: 'The mail is with the provider just now.' },
  send_accepted: { stops: false, says: 'The provider took the mail.' },
  send_delivered: { stops: false, says: 'The mail was delivered.' },
  send_suppressed: { stops: true, says: 'The address is on the suppression list.' },
  send_unsubscribed: { stops: true, says: 'The person has unsubscribed from marketing mail.' },
  send_failed_render: { stops: true, says: 'The template failed for this person.' },
  send_expired: { stops: true, says: 'The mail could not be handed over before it expired.' },
  send_cancelled: { stops: true, says: 'The mail was cancelled.' },
  send_rejected: { stops: true, says: 'The provider refused the mail.' },
  send_not_sent: { stops: true, says: 'The mail did not go out.' },
  send_unknown: {
    stops: true,
    says: 'It is not known whether the provider took the email: resolve it.',
  },
  send_bounced: { stops: true, says: 'The mail bounced.' },
  send_complained: { stops: true, says: 'The person complained about the mail.' },
  provider_parked: {
    stops: true,
    says: 'The provider is parked or gone: mend what its record says.',
  },
  waits_for_ramp: {
    stops: true,
    says: 'The provider is warmed up, and has had what it may have today: the mail waits for the next day.',
  },
  waits_for_rate: { stops: false, says: 'The provider is given so many mails a second: it waits.' },
  waits_for_circuit: {
    stops: true,
    says: 'The provider failed several times in a row and is left alone for a while.',
  },
  waits_for_pause: {
    stops: true,
    says: 'The provider takes no email of this account for now: its queue waits, and one email tries it again.',
  },
  waits_for_refusals: {
    stops: true,
    says:
      'The same answer came to several recipients, and the provider accepted no email in between: its queue waits. ' +
      'The cause is the account, the sender, or what these emails have in common, such as one template.',
  },
  waits_for_answers: {
    stops: true,
    says: 'The provider leaves all that it was given unanswered: the mail waits until that ends.',
  },
  waits_for_retry: { stops: false, says: 'It was not taken, and is tried again then.' },
  waits_for_resend: {
    stops: false,
    says: 'It is not known whether the provider took it (on_unknown: resend): it is sent again then.',
  },
  goal_reached: { stops: true, says: 'The person reached the goal and left: converted.' },
  unsubscribed: { stops: true, says: 'The person had unsubscribed, and left.' },
  exited: { stops: true, says: 'The run came to an exit.' },
  step_expired: { stops: true, says: 'The step was overdue for longer than expires_after.' },
  step_missing: { stops: true, says: 'The version has no such step.' },
  run_failed: { stops: true, says: 'The run failed too often on our side and was given up.' },
  run_retried: { stops: false, says: 'A person continued the run that had failed.' },
  run_frozen: { stops: true, says: 'The run is frozen, because the automation is paused.' },
  merged: {
    stops: true,
    says:
      'A merge gave this person an older run of this automation. The re-entry rule allows one, so this run ended and ' +
      'the older run continues.',
  },
  restored: {
    stops: false,
    says: 'The merge was undone. The run continues at the step where it ended.',
  },
  not_restored: {
    stops: false,
    says: 'The undo of the merge could not restore all of the run: see the reason.',
    saysFor: {
      email_cancelled: 'The merge cancelled this email. The undo does not send it.',
      email_left_out:
        'The run left out this email, because the other run sent it. The undo does not send it.',
      email_sent:
        'The other run sent this email to the address of this person. It stays sent, and is not sent again.',
      automation_archived: 'The automation is archived, so the undo does not continue the run.',
    },
  },
  archived: { stops: true, says: 'The automation was archived while the person was inside.' },
  erased: { stops: true, says: 'The person was erased.' },
  went_in_circles: { stops: true, says: 'The run had taken as many decisions as a run may.' },
} as const;
export type Decided = keyof typeof DECISIONS;

export const isDecided = (name: string): name is Decided => Object.hasOwn(DECISIONS, name);

type Says = { says: string; saysFor?: Readonly<Record<string, string>> };

/** Returns what a decision means, where it has a reason with a meaning of its own that one. */
export const saysOf = ({ says, saysFor = {} }: Says, reason: string | null | undefined): string =>
  saysFor[reason ?? ''] ?? says;
