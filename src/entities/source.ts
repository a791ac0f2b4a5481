// Who stated what memory holds. One model, or one tool, is a single voice: what it states stays below a bound and does not reach the
// branch above, until a person, a program or another agent has stated it too.
import { z } from 'zod'
import { type DurableRule, firstConfidence, fullConfidence, isDurable } from './confidence.ts'

/**
 * `person`: somebody at a terminal. `model`: a model, an agent's or one at the other end of a surface. `tool`: what a model has used.
 * `program`: the code that embeds the engine, an executor, a client over HTTP, a script. `unknown`: recorded by an earlier version.
 */
export const sourceKinds = ['person', 'model', 'tool', 'program', 'unknown'] as const
export type SourceKind = (typeof sourceKinds)[number]

export const sourceSchema = z.object({
  kind: z.enum(sourceKinds),
  taskId: z.string().optional(),
  agentId: z.string().optional(),
  voice: z.string().optional(),
})
/** Recorded from the caller, never from what the call says about itself. */
export interface Source {
  kind: SourceKind
  /** In which task it was stated; absent outside of tasks. */
  taskId?: string
  /** Under which name the caller was known: in the team of the task, or to the surface. */
  agentId?: string
  /**
   * Of a model or a tool in a task: whose voice this is, after the voices of the agents that have created its task (`LEAD > OWN`). The tasks
   * that one agent works in share a voice, and an agent does not confirm what those say by whom it was created, nor they what it says.
   */
  voice?: string
}

/** The most that a single model or tool is believed: as much as what was observed once, and less than what lasts. */
const singleVoiceConfidence = firstConfidence

/** Sources that a fact names. */
const maxSources = 20

/** People and programs are believed as far as they say; so is what was recorded before sources were, like tasks of that time. */
export function isTrusted({ kind }: Source): boolean {
  return kind !== 'model' && kind !== 'tool'
}

/** Between the voice of an agent and that of the one that has created its task. */
export const voiceSeparator = ' > '

/** What a fact is believed by: a person or a program, or two voices of which neither has created the other. */
export function isConfirmed(sources: readonly Source[]): boolean {
  if (sources.some(isTrusted)) return true
  const voices = [...new Set(sources.map(voiceOf))]
  return voices.some((voice, at) => voices.slice(at + 1).some((other) => !areRelated(voice, other)))
}

/** One is the other, or stands among those that have created the other. */
function areRelated(voice: string, other: string): boolean {
  const [one, two] = [voice.split(voiceSeparator), other.split(voiceSeparator)]
  return one.includes(two.at(-1) as string) || two.includes(one.at(-1) as string)
}

/** How sure a fact may be at most that these have stated, in hundredths. */
export function maxConfidence(sources: readonly Source[]): number {
  return isConfirmed(sources) ? fullConfidence : singleVoiceConfidence
}

/**
 * Whether these say more than `known` did: a model or a tool that repeats itself confirms nothing, nor does one that cannot be named any
 * more, which would seem new each time.
 */
export function addVoice(known: readonly Source[], more: readonly Source[]): boolean {
  const voices = known.map(voiceOf)
  const kept = joinedSources([known, more])
  const isNew = (source: Source) => !voices.some((voice) => areRelated(voice, voiceOf(source)))
  return more.some((source) => kept.includes(source) && (isTrusted(source) || isNew(source)))
}

/** Each source once, and as many as fit: people and programs first, then those that add a voice, each in the order in which they came. */
export function joinedSources(lists: ReadonlyArray<readonly Source[]>): Source[] {
  const each = [...new Map(lists.flat().map((source) => [keyOf(source), source])).values()]
  const firsts = new Map(each.toReversed().map((source) => [voiceOf(source), source]))
  const isFirst = (source: Source) => firsts.get(voiceOf(source)) === source
  const rank = (source: Source) => (isTrusted(source) ? 0 : isFirst(source) ? 1 : 2)
  return each.toSorted((one, two) => rank(one) - rank(two)).slice(0, maxSources)
}

/** A fact that may be carried to the branch above without anybody asking for it. */
export function lasts(
  fact: { confidence: number; category: string; statedBy: readonly Source[] },
  rule: DurableRule,
): boolean {
  return isDurable(fact, rule) && isConfirmed(fact.statedBy)
}

/** All models and tools outside of tasks are one voice: the names that they give themselves tell nobody apart. */
function voiceOf(source: Source): string {
  const { taskId, voice } = source
  if (isTrusted(source)) return keyOf(source)
  return voice ?? taskId ?? 'outside of tasks'
}

function keyOf({ kind, taskId, agentId, voice }: Source): string {
  return JSON.stringify([kind, taskId, agentId, voice])
}
