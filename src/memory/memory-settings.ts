// How this engine's memory judges: the option `memory` of `createEngine` with everything that was left out filled in.

import {
  type ContradictsFunction,
  type JudgeFunction,
  type LikenessFunction,
  memoryOptionsSchema,
  type ParsedMemoryOptions,
} from '../api/options.ts'
import { parse } from '../core/parse.ts'
import { type DurableRule, defaultDurableCategories, toHundredths } from '../entities/confidence.ts'
import { type CategoryRule, defaultRules } from '../entities/fact-category.ts'
import type { ContradictionPolicy } from '../entities/memory.ts'
import type { TeamRecord } from '../entities/team.ts'

export interface MemorySettings {
  /** Whether `mem:*` is offered. Teams consolidate either way. */
  readonly offered: boolean
  readonly similarity: 'jaccard' | 'embeddings' | LikenessFunction
  /** Beyond it two texts say the same, 0 to 1. */
  readonly threshold: number
  /** Which facts a function is asked about. */
  readonly candidates: 'all' | 'words'
  readonly durable: DurableRule
  readonly categoryRules: readonly CategoryRule[]
  /** So many pending observations of a session are consolidated by themselves; null: never by number. */
  readonly consolidateEvery: number | null
  readonly onContradiction: ContradictionPolicy | JudgeFunction
  readonly contradicts: ContradictsFunction | null
  /** Whether the engine gives tasks that have ended to its own `mem:save` and `mem:archive`. */
  readonly archive: boolean
}

/** Likeness by words and by meaning are different scales. */
const defaultThreshold = { words: 0.85, embeddings: 0.92 }

/**
 * `false`: no `mem:*`, and for teams what is usual.
 * @throws ErrandError UNKNOWN_OPTION { option, nearest }, INVALID_INPUT { issues }
 */
export function memorySettings(options: unknown): MemorySettings {
  const given: ParsedMemoryOptions =
    options === false || options === undefined ? {} : parse(memoryOptionsSchema, options, 'createEngine({ memory })')
  const similarity = given.similarity ?? 'jaccard'
  return {
    offered: options !== false,
    similarity,
    threshold: given.threshold ?? (similarity === 'embeddings' ? defaultThreshold.embeddings : defaultThreshold.words),
    candidates: given.candidates ?? 'all',
    durable: {
      threshold:
        given.durableThreshold === undefined
          ? defaultDurableCategories.threshold
          : toHundredths(given.durableThreshold),
      categories: given.durableCategories ?? defaultDurableCategories.categories,
    },
    categoryRules: given.categoryRules ?? defaultRules,
    consolidateEvery: given.consolidateEvery ?? null,
    onContradiction: given.onContradiction ?? 'keep-both',
    contradicts: given.contradicts ?? null,
    archive: given.archive ?? false,
  }
}

/** What a team says of what is durable in it. */
export type DurableSettings = Pick<TeamRecord, 'durableThreshold' | 'durableCategories'>

/** What is durable in a task: as its team says, else as the engine does. */
export function durableRuleOf(settings: MemorySettings, team: DurableSettings | undefined): DurableRule {
  return {
    threshold: team?.durableThreshold ?? settings.durable.threshold,
    categories: team?.durableCategories ?? settings.durable.categories,
  }
}
