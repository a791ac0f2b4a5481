// Fires the schedules that are due, each in a step of its own: one whose task cannot be created holds up no other, and no timer.
import { ErrandError } from '../core/errors.ts'
import { toStoredError } from '../core/stored-error.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { fireSchedule, type ScheduleRequest } from './schedule-steps.ts'

/** The maximum of schedules at once; the rest follow. */
const batch = 200

export interface FiringHost extends Pick<ScheduleRequest, 'treeLimits' | 'nextId'> {
  readonly ledger: Ledger
  stepContext(): Pick<ScheduleRequest, 'at' | 'instanceId' | 'teams'>
}

/** Resolves to whether any was due. */
export async function fireSchedules(host: FiringHost): Promise<boolean> {
  const { at } = host.stepContext()
  const names = await host.ledger.read((tx) => tx.schedule.due(at, batch))
  await Promise.all(names.map((name) => fireOne(host, name)))
  return names.length > 0
}

async function fireOne(host: FiringHost, name: string): Promise<void> {
  const { ledger, stepContext, treeLimits, nextId } = host
  const request = (): ScheduleRequest => ({ ...stepContext(), treeLimits, nextId })
  try {
    await ledger.step(fireSchedule(name, request()))
  } catch (error) {
    if (!isRefusal(error)) throw error
    await ledger.step(fireSchedule(name, { ...request(), refusal: toStoredError(error) }))
  }
}

/** The step was refused: its ledger has not failed. */
function isRefusal(error: unknown): boolean {
  return ErrandError.isInstance(error) && !/^LEDGER_|^OUTCOME_UNKNOWN$/.test(error.code)
}
