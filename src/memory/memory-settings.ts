// The option `memory` of `createEngine`, with defaults.

import { parse } from '../core/parse.ts'
import { type DurableRule, defaultDurableRule, toHundredths } from '../entities/confidence.ts'
import { type CategoryRule, defaultRules } from '../entities/fact-category.ts'
import type { ContradictionPolicy } from '../entities/memory.ts'
import {
  type ContradictsFunction,
  type JudgeFunction,
  type LikenessFunction,
  memoryOptionsSchema,
  type ParsedMemoryOptions,
} from '../entities/options.ts'
import type { TeamRecord } from '../entities/team.ts'

export interface MemorySettings {
  /** Whether the abilities `mem:*` are registered. Teams consolidate in any case. */
  readonly offered: boolean
  readonly similarity: 'jaccard' | 'embeddings' | LikenessFunction
  /** Texts whose likeness is above this are alike, 0 to 1. */
  readonly threshold: number
  /** The facts for which a similarity function is called. */
  readonly candidates: 'all' | 'words'
  readonly durable: DurableRule
  readonly categoryRules: readonly CategoryRule[]
  /** Number of pending observations of a session that triggers a consolidation; null: none. */
  readonly consolidateEvery: number | null
  readonly onContradiction: ContradictionPolicy | JudgeFunction
  readonly contradicts: ContradictsFunction | null
  /** Whether the engine calls its own `mem:save` and `mem:archive` for tasks that have ended. */
  readonly archive: boolean
}

/** Likeness by words and by embeddings have different scales. */
const defaultThreshold = { words: 0.85, embeddings: 0.92 }

/**
 * `false`: no `mem:*`, and the defaults for teams.
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
        given.durableThreshold === undefined ? defaultDurableRule.threshold : toHundredths(given.durableThreshold),
      categories: given.durableCategories ?? defaultDurableRule.categories,
    },
    categoryRules: given.categoryRules ?? defaultRules,
    consolidateEvery: given.consolidateEvery ?? null,
    onContradiction: given.onContradiction ?? 'keep-both',
    contradicts: given.contradicts ?? null,
    archive: given.archive ?? false,
  }
}

/** A team's settings of what is durable. */
export type DurableSettings = Pick<TeamRecord, 'durableThreshold' | 'durableCategories'>

/** What is durable in a task: the team's settings, else the engine's. */
export function durableRuleOf(settings: MemorySettings, team: DurableSettings | undefined): DurableRule {
  return {
    threshold: team?.durableThreshold ?? settings.durable.threshold,
    categories: team?.durableCategories ?? settings.durable.categories,
  }
}
