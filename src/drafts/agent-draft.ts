// What a task has because agents work on it: its team, an agent's name in it, and what the conversation opens with.

import type { ChildSpec } from '../api/options.ts'
import { ErrandError } from '../core/errors.ts'
import { checkText } from '../core/json.ts'
import { categoryNamed, toHundredths } from '../entities/confidence.ts'
import { doesNothing } from './idle-options.ts'
import { agentOf, type KnownExecutors, mayBeAgent } from './known-executors.ts'

/** Told to an agent that has no instructions of its own (conformance S0-008). */
export const defaultSystemPrompt = 'You are a helpful AI assistant.'

/** A line of a conversation, stored with the task. */
export interface Opening {
  id: string
  role: 'system' | 'user'
  content: string
}

/** Under which name the task's agent works in a team; null where no agent does. */
export function agentNameOf(
  spec: ChildSpec,
  name: string,
  executor: string | null,
  context: KnownExecutors,
): string | null {
  if (executor !== null && mayBeAgent(executor, context)) return spec.agentId ?? executor
  if (spec.agentId === undefined) return null
  const why =
    executor === null
      ? 'no executor runs it: who works on it from outside joins by `agent:join`'
      : `its executor ${executor} is no agent`
  throw doesNothing('agentId', name, `${why}. Leave it out.`)
}

/** The first lines of an agent's conversation. An engine that does not know the executor leaves them to the agent itself. */
export function openingOf(
  spec: ChildSpec,
  executor: string | null,
  context: KnownExecutors & { nextId: (prefix: string) => string },
): Opening[] {
  const agent = agentOf(executor, context)
  if (agent === undefined) return []
  const assignment = checkText(assignmentOf(spec), 'the goal')
  if (assignment.trim() === '') {
    throw new ErrandError(
      'INVALID_INPUT',
      `The agent ${executor} would not know what to do: give the task a goal, or an input.`,
      { executor },
    )
  }
  const line = (role: Opening['role'], content: string): Opening => ({ id: context.nextId('msg'), role, content })
  return [line('system', spec.systemPrompt ?? agent.instructions ?? defaultSystemPrompt), line('user', assignment)]
}

/** The goal, and what was given with it. */
function assignmentOf({ goal, input }: ChildSpec): string {
  const given =
    input === undefined || input === null ? [] : [typeof input === 'string' ? input : JSON.stringify(input, null, 2)]
  return [...(goal === undefined ? [] : [goal]), ...given].join('\n\n')
}

/** What a task's team is told to be. */
export interface TeamSpec {
  /** What kind of work it is; null when nobody said. */
  type: string | null
  /** Descriptions, in order; they are numbered from 1. */
  objectives: readonly string[]
  /** Null: the branch of the nearest team above, else `main`. */
  parentBranch: string | null
  /** Hundredths; null: as the engine says. */
  durableThreshold: number | null
  durableCategories: string[] | null
}

/** A task is a team's as soon as anything is said that only a team has. */
export function teamSpecOf(spec: ChildSpec): TeamSpec | 'later' | null {
  const { type, objectives, parentBranch, durableThreshold, durableCategories } = spec
  const said = [type, objectives, parentBranch, durableThreshold, durableCategories]
  if (spec.team === false && said.some((each) => each !== undefined)) {
    throw new ErrandError(
      'INVALID_INPUT',
      '`team: false` goes with no field of a team (type, objectives, parentBranch, durableThreshold, durableCategories). Leave one of them out.',
      { option: 'team' },
    )
  }
  if (spec.team !== true && said.every((each) => each === undefined)) return spec.team === 'later' ? 'later' : null
  return {
    type: type ?? null,
    objectives: (objectives ?? []).map((objective) => checkText(objective, 'an objective')),
    parentBranch: parentBranch ?? null,
    durableThreshold: durableThreshold === undefined ? null : toHundredths(durableThreshold),
    durableCategories: durableCategories?.map(categoryNamed) ?? null,
  }
}
