// Runs a row: prepares it, then in each round takes one sample of every side in every case. Sides take turns and their order is reversed
// in every other round, so that a slow phase of a shared machine affects all of them.
import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { peerSides } from '../peers/peers.ts'
import { type Calm, waitForCalm } from './calm.ts'
import type { AnyRow, Figures, Goal, Side, SizeName } from './row.ts'
import { sizeOf } from './row.ts'
import { baseSide, type SampleOrder, type SampleReport } from './sample.ts'
import { median, type Spread, spreadOf } from './statistics.ts'

export interface RunOptions {
  size: SizeName
  /** Default: the row's own. */
  rounds?: number | undefined
  peers: boolean
  /** The root of another built checkout that takes part as the side `base`. */
  base?: string | undefined
  /** A folder for what rows prepare. */
  folder: string
  take(order: SampleOrder): Promise<SampleReport>
  /** How long to wait for a calm machine before each round; 0 does not wait. */
  patienceMs: number
  /** Of the run: the load average of what came before it counts too. */
  isFirst: boolean
  say(text: string): void
}

export interface SideResult {
  side: string
  durability: string
  figures: Record<string, Spread>
  /** Errand's figure divided by this side's, in the same round. */
  ratios: Record<string, Spread>
  /** Why there are no figures. */
  failure?: string
}

export interface CaseResult {
  case: string
  sides: SideResult[]
}

export interface GoalResult extends Goal {
  value: number
  isMet: boolean
}

export interface RowResult {
  row: string
  title: string
  size: SizeName
  sizes: object
  startedAt: string
  machine: { node: string; platform: string; processors: string }
  /** The commit that was measured; with `+` if files differed from it, and '' outside of a checkout. */
  revision: string
  rounds: Calm[]
  cases: CaseResult[]
  goals: GoalResult[]
  notes: string[]
}

type Sides = Readonly<Record<string, Side<never>>>

/** The figures of each round, by case and side. */
type Found = Map<string, Map<string, Array<Figures | undefined>>>

export async function runRow(row: AnyRow, options: RunOptions): Promise<RowResult> {
  const { size, base, say, take } = options
  const startedAt = new Date().toISOString()
  const cases = row.cases(sizeOf(row, size))
  const sides: Sides = { ...row.sides, ...(options.peers ? peerSides(row.name) : {}) }
  const names = Object.keys(sides).flatMap((name) =>
    name === 'errand' && base !== undefined ? [name, baseSide] : [name],
  )
  const notes = new Set<string>()
  const failures = new Map<string, string>()
  const prepared = await prepare(row, options, notes)
  const found: Found = new Map(cases.map((each) => [each.name, new Map(names.map((name) => [name, []]))]))
  const rounds: Calm[] = []
  const count = options.rounds ?? row.rounds[size]
  for (let round = 0; round < count; round++) {
    if (options.patienceMs > 0) rounds.push(await waitForCalm(options.isFirst && round === 0, options.patienceMs, say))
    for (const { name: caseName, given } of cases) {
      for (const side of round % 2 === 0 ? names : names.toReversed()) {
        const key = `${caseName}, ${side}`
        const isBase = side === baseSide
        if (sides[isBase ? 'errand' : side]?.cases?.includes(caseName) === false || failures.has(key)) continue
        const order = { row: row.name, size, side, given, ...(isBase ? prepared.base : prepared.own) }
        const report = await take(order).catch((error: Error) => {
          // A peer that fails is named in the results; of ours it is a fault.
          if (side in row.sides || isBase) throw error
          failures.set(key, error.message)
          say(`  ${side} failed: ${error.message}`)
        })
        found.get(caseName)?.get(side)?.push(report?.figures)
        for (const note of report?.notes ?? []) notes.add(note)
      }
    }
    say(`  round ${round + 1} of ${count}: ${roundText(row, found)}`)
  }
  return {
    row: row.name,
    title: row.title,
    size,
    sizes: sizeOf(row, size),
    startedAt,
    machine: machine(),
    revision: revision(),
    rounds,
    cases: cases.map(({ name }) => ({ case: name, sides: sideResults(name, found, sides, failures) })),
    goals: (row.goals ?? []).flatMap((goal) => goalResult(goal, found)),
    notes: [...notes],
  }
}

type Prepared = Pick<SampleOrder, 'prepared' | 'packageRoot'>

/** Each package prepares files of its own: another version may not open them. Rows share the folder, for some need the same files. */
async function prepare(
  row: AnyRow,
  options: RunOptions,
  notes: Set<string>,
): Promise<{ own: Prepared; base: Prepared }> {
  const of = (name: string, packageRoot: string | null): Prepared => ({
    prepared: join(options.folder, name),
    packageRoot,
  })
  const all = { own: of('own', null), base: of(baseSide, options.base ?? null) }
  if (row.prepare === undefined) return all
  for (const each of options.base === undefined ? [all.own] : [all.own, all.base]) {
    const report = await options.take({ row: row.name, size: options.size, side: 'prepare', given: null, ...each })
    for (const note of report.notes) notes.add(note)
  }
  return all
}

function sideResults(
  caseName: string,
  found: Found,
  sides: Sides,
  failures: ReadonlyMap<string, string>,
): SideResult[] {
  const results = [...(found.get(caseName) ?? [])].map(([side, samples]): SideResult => {
    const failure = failures.get(`${caseName}, ${side}`)
    return {
      side,
      durability: sides[side === baseSide ? 'errand' : side]?.durability ?? '',
      figures: spreads(samples, (figures) => figures),
      ratios: side === 'errand' ? {} : spreads(samples, (figures, round) => ratiosTo(found, caseName, round, figures)),
      ...(failure === undefined ? {} : { failure }),
    }
  })
  return results.filter(({ figures, failure }) => Object.keys(figures).length > 0 || failure !== undefined)
}

function ratiosTo(found: Found, caseName: string, round: number, figures: Figures): Figures {
  const ours = found.get(caseName)?.get('errand')?.[round] ?? {}
  const shared = Object.entries(figures).filter(([name, value]) => name in ours && value !== 0)
  return Object.fromEntries(shared.map(([name, value]) => [name, (ours[name] as number) / value]))
}

function spreads(
  samples: ReadonlyArray<Figures | undefined>,
  of: (figures: Figures, round: number) => Figures,
): Record<string, Spread> {
  const values = new Map<string, number[]>()
  for (const [round, sample] of samples.entries()) {
    for (const [name, value] of Object.entries(sample === undefined ? {} : of(sample, round))) {
      values.set(name, [...(values.get(name) ?? []), value])
    }
  }
  return Object.fromEntries([...values].map(([name, all]) => [name, spreadOf(all)]))
}

/** A goal beside a side or case that did not take part has no result. */
function goalResult(goal: Goal, found: Found): GoalResult[] {
  const samples = (caseName: string, side: string) => found.get(caseName)?.get(side) ?? []
  const beside =
    goal.as === 'value'
      ? []
      : samples(
          goal.beside?.case ?? goal.case,
          goal.beside?.side ?? (goal.beside?.case === undefined ? 'floor' : 'errand'),
        )
  const values = samples(goal.case, 'errand').flatMap((figures, round) => {
    const [ours, other] = [figures?.[goal.figure], beside[round]?.[goal.figure]]
    if (ours === undefined || (other === undefined && goal.as !== 'value')) return []
    if (goal.as === 'value') return [ours]
    return [goal.as === 'ratio' ? ours / (other as number) : ours - (other as number)]
  })
  if (values.length === 0) return []
  const value = median(values)
  return [{ ...goal, value, isMet: value >= (goal.atLeast ?? -Infinity) && value <= (goal.atMost ?? Infinity) }]
}

/** The first figure of all sides so far. */
function roundText(row: AnyRow, found: Found): string {
  const [figure] = Object.keys(row.figures)
  const texts = [...found].map(([caseName, sides]) => {
    const each = [...sides].flatMap(([side, samples]) => {
      const value = samples.at(-1)?.[figure as string]
      return value === undefined ? [] : [`${side} ${shortNumber(value)}`]
    })
    return `${caseName}: ${each.join(', ')}`
  })
  return texts.join('; ')
}

/** Three significant digits. */
export function shortNumber(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

export function machine(): RowResult['machine'] {
  const { version, platform, arch } = process
  const all = cpus()
  return { node: version, platform: `${platform} ${arch}`, processors: `${all.length} × ${all[0]?.model ?? 'unknown'}` }
}

/** Of the checkout. */
export function revision(): string {
  const git = (...words: string[]): string =>
    spawnSync('git', words, { cwd: import.meta.dirname, encoding: 'utf8' }).stdout?.trim() ?? ''
  const commit = git('rev-parse', '--short=10', 'HEAD')
  return commit === '' ? '' : `${commit}${git('status', '--porcelain', '--', '../../src') === '' ? '' : '+'}`
}
