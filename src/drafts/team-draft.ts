// What a task's team is to be, from the options that only a team has.
import { categoryNamed, toHundredths } from '../entities/confidence.ts'
import { ErrandError } from '../errors.ts'
import { checkText } from '../json.ts'
import type { ChildSpec } from '../options.ts'

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
