// The parts of a draft that concern agents: the team, the agent's name in it, and the first messages of the conversation.

import { ErrandError } from '../../core/errors.ts'
import { checkText } from '../../core/json.ts'
import { categoryNamed, toHundredths } from '../../entities/confidence.ts'
import type { ChildSpec } from '../../entities/options.ts'
import { doesNothing } from './idle-options.ts'
import { agentOf, type KnownExecutors, mayBeAgent } from './known-executors.ts'

/** The system prompt of an agent without instructions. */
export const defaultSystemPrompt = 'You are a helpful AI assistant.'

/** A first message of the conversation, stored with the task. */
export interface Opening {
  id: string
  role: 'system' | 'user'
  content: string
}

/** The name of the task's agent in a team; null when no agent works on the task. */
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
      ? 'it has no executor; workers from outside join with `agent:join`'
      : `its executor ${executor} is not an agent`
  throw doesNothing('agentId', name, `${why}. Leave it out.`)
}

/** The first messages of an agent's conversation. Empty when this engine does not have the executor: the agent then adds them itself. */
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
      `The agent ${executor} has nothing to do: give the task a goal or an input.`,
      { executor },
    )
  }
  const line = (role: Opening['role'], content: string): Opening => ({ id: context.nextId('msg'), role, content })
  return [line('system', spec.systemPrompt ?? agent.instructions ?? defaultSystemPrompt), line('user', assignment)]
}

/** The goal and the input as one text. */
function assignmentOf({ goal, input }: ChildSpec): string {
  const given =
    input === undefined || input === null ? [] : [typeof input === 'string' ? input : JSON.stringify(input, null, 2)]
  return [...(goal === undefined ? [] : [goal]), ...given].join('\n\n')
}

/** The team fields of a task. */
export interface TeamSpec {
  /** The kind of work; null when not given. */
  type: string | null
  /** Descriptions, in order; they are numbered from 1. */
  objectives: readonly string[]
  /** Null: the branch of the nearest team above, else `main`. */
  parentBranch: string | null
  /** Hundredths; null: the engine's. */
  durableThreshold: number | null
  durableCategories: string[] | null
}

/** A task with any field of a team is a team task. */
export function teamSpecOf(spec: ChildSpec): TeamSpec | 'later' | null {
  const { type, objectives, parentBranch, durableThreshold, durableCategories } = spec
  const given = [type, objectives, parentBranch, durableThreshold, durableCategories]
  if (spec.team === false && given.some((each) => each !== undefined)) {
    throw new ErrandError(
      'INVALID_INPUT',
      '`team: false` excludes the fields of a team (type, objectives, parentBranch, durableThreshold, durableCategories). Leave out `team` or those fields.',
      { option: 'team' },
    )
  }
  if (spec.team !== true && given.every((each) => each === undefined)) return spec.team === 'later' ? 'later' : null
  return {
    type: type ?? null,
    objectives: objectives ?? [],
    parentBranch: parentBranch ?? null,
    durableThreshold: durableThreshold === undefined ? null : toHundredths(durableThreshold),
    durableCategories: durableCategories?.map(categoryNamed) ?? null,
  }
}
