// Faults that the checks of the team scenario must find: ledgers on which the engine does what it must not.

import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, Op, Reads, Step, Tx } from '../../src/ledger/ledger.ts'

type Observation = Parameters<Tx['observation']['insert']>[0]

/** Observations are written in a step of their own, after the one that records the call. */
export function observingLate(inner: Ledger): Ledger {
  return delegateLedger(inner, {
    async step<R>(step: Step<R>): Promise<R> {
      if (step.name !== 'finish call' && step.name !== 'append message') return inner.step(step)
      const late: Observation[] = []
      const result = await inner.step({
        ...step,
        decide: (tx) => step.decide({ ...tx, observation: { ...tx.observation, insert: keep(late) } }),
      })
      if (late.length > 0) {
        await inner.step({
          name: 'observe late',
          *decide(tx) {
            for (const each of late) yield* tx.observation.insert(each)
          },
        })
      }
      return result
    },
  })
}

function keep(late: Observation[]) {
  return function* (observation: Observation): Op<boolean> {
    late.push(observation)
    return true
  }
}

/** The completion of an agent is invisible: each engine that processes the end of its task completes it again. */
export function forgettingEnds(inner: Ledger): Ledger {
  return delegateLedger(inner, {
    read: (query) => inner.read((tx) => query({ ...tx, team: { ...tx.team, stintOfWorker: everActive(tx) } })),
    step: <R>(step: Step<R>) =>
      inner.step({
        ...step,
        decide: (tx) =>
          step.decide(
            step.name === 'complete agent' ? { ...tx, team: { ...tx.team, latestStint: stillActive(tx) } } : tx,
          ),
      }),
  })
}

function stillActive(tx: Tx): Tx['team']['latestStint'] {
  return function* (taskId, agentId) {
    const stint = yield* tx.team.latestStint(taskId, agentId)
    return stint && { ...stint, status: 'active' }
  }
}

function everActive(tx: Reads): Reads['team']['stintOfWorker'] {
  return function* (workerId) {
    const teamId = (yield* tx.task.get(workerId))?.policy.team?.taskId
    if (teamId === undefined) return undefined
    const stint = (yield* tx.team.stints(teamId)).findLast((each) => each.workerId === workerId)
    return stint && { ...stint, status: 'active' }
  }
}
