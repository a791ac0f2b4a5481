// The sources of facts. A fact from a single model or tool has bounded confidence and is not merged into the parent branch until a
// person, a program or an unrelated agent has stated it too. `voice` identifies independent models and tools.
import { z } from 'zod'
import { once } from '../core/once.ts'
import { type DurableRule, firstConfidence, fullConfidence, isDurable } from './confidence.ts'

/**
 * `person`: a user at a terminal. `model`: the model of an agent, or a client of a surface that is a model. `tool`: a tool of a model.
 * `program`: the code that embeds the engine, an executor, a client over HTTP, a script.
 */
export const sourceKinds = ['person', 'model', 'tool', 'program'] as const
export type SourceKind = (typeof sourceKinds)[number]

export const sourceSchema = once(() =>
  z.object({
    kind: z.enum(sourceKinds),
    taskId: z.string().optional(),
    agentId: z.string().optional(),
    voice: z.string().optional(),
  }),
)
/** Recorded from the caller, never from the arguments of the call. */
export interface Source {
  kind: SourceKind
  /** The task in which it was stated; absent outside of tasks. */
  taskId?: string
  /** The name of the caller in the team of the task, or on the surface. */
  agentId?: string
  /**
   * For a model or a tool in a task: the identity of its agent, after those of the agents that created its task (`LEAD > OWN`). All tasks of
   * one agent share it. An agent and the agents that created its task do not confirm each other.
   */
  voice?: string
}

/** The maximum confidence from a single model or tool: that of one observation, below the default threshold of durable facts. */
const singleVoiceConfidence = firstConfidence

/** Maximum of sources that a fact keeps. */
const maxSources = 20

/** The confidence given by people and programs is not bounded. */
export function isTrusted({ kind }: Source): boolean {
  return kind !== 'model' && kind !== 'tool'
}

/** Separates the voice of an agent from that of the agent that created its task. */
export const voiceSeparator = ' > '

/** True when a person or a program stated the fact, or two voices of which neither created the other. */
export function isConfirmed(sources: readonly Source[]): boolean {
  if (sources.some(isTrusted)) return true
  const voices = [...new Set(sources.map(voiceOf))]
  return voices.some((voice, at) => voices.slice(at + 1).some((other) => !areRelated(voice, other)))
}

/** True when the two are the same, or one is among the creators of the other. */
function areRelated(voice: string, other: string): boolean {
  const [one, two] = [voice.split(voiceSeparator), other.split(voiceSeparator)]
  return one.includes(two.at(-1) as string) || two.includes(one.at(-1) as string)
}

/** The maximum confidence of a fact from these sources, in hundredths. */
export function maxConfidence(sources: readonly Source[]): number {
  return isConfirmed(sources) ? fullConfidence : singleVoiceConfidence
}

/**
 * Whether these sources confirm the fact further: a model or a tool that repeats itself does not, nor does one that `maxSources` would
 * drop, because it would seem new each time.
 */
export function addVoice(known: readonly Source[], more: readonly Source[]): boolean {
  const voices = known.map(voiceOf)
  const kept = joinedSources([known, more])
  const isNew = (source: Source) => !voices.some((voice) => areRelated(voice, voiceOf(source)))
  return more.some((source) => kept.includes(source) && (isTrusted(source) || isNew(source)))
}

/** Each source once, at most `maxSources`: people and programs first, then those that add a voice, in their original order. */
export function joinedSources(lists: ReadonlyArray<readonly Source[]>): Source[] {
  const each = [...new Map(lists.flat().map((source) => [keyOf(source), source])).values()]
  const firsts = new Map(each.toReversed().map((source) => [voiceOf(source), source]))
  const isFirst = (source: Source) => firsts.get(voiceOf(source)) === source
  const rank = (source: Source) => (isTrusted(source) ? 0 : isFirst(source) ? 1 : 2)
  return each.toSorted((one, two) => rank(one) - rank(two)).slice(0, maxSources)
}

/** True for a fact that is merged into the parent branch automatically. */
export function lasts(
  fact: { confidence: number; category: string; statedBy: readonly Source[] },
  rule: DurableRule,
): boolean {
  return isDurable(fact, rule) && isConfirmed(fact.statedBy)
}

/** All models and tools outside of tasks are one voice, because they can choose their names freely. */
function voiceOf(source: Source): string {
  const { taskId, voice } = source
  if (isTrusted(source)) return keyOf(source)
  return voice ?? taskId ?? 'outside of tasks'
}

function keyOf({ kind, taskId, agentId, voice }: Source): string {
  return JSON.stringify([kind, taskId, agentId, voice])
}
