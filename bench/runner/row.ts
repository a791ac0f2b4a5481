// The types of a row: the cases in which it measures, and its sides. A side is one program that does the work: errand, a floor, or a peer.
// The runner decides in which order the sides run, how often, and in which process.

/** What one sample of one side measured, by the name of the figure. */
export type Figures = Record<string, number>

/** The package under test: this checkout's, or another one's with `--base`. */
export type Errand = typeof import('errand')

/** What a sample receives besides its case. */
export interface World {
  /** Empty; removed after the sample. */
  folder: string
  /** The folder of what `prepare` has written. Rows share it. */
  prepared: string
  /** Loads the package. It counts for the peak memory of the side. */
  errand(): Promise<Errand>
  /** The root of the package that `errand` loads: its built files are in `dist`. */
  packageRoot: string
  /** Adds a line to the results. */
  note(text: string): void
}

/** The columns of a table of the results. */
export interface FigureKind {
  label: string
  unit: string
  better: 'more' | 'less'
}

/** A sample: it checks that the work was done, and throws if it was not. */
export type Measure<C> = (given: C, world: World) => Promise<Figures>

export interface Side<C> {
  /** What survives when a write was acknowledged and the power fails; '' if nothing is written. */
  durability: string
  measure: Measure<C>
  /** The names of the cases in which it takes part. Default all. */
  cases?: readonly string[]
}

export interface Case<C> {
  name: string
  given: C
}

/** An aim of the project, checked against the medians of one run. */
export interface Goal {
  figure: string
  case: string
  /** The figure of errand is taken as it is, divided by that of another side or case, or reduced by it. */
  as: 'value' | 'ratio' | 'difference'
  /** Default: the side `floor` in the same case. */
  beside?: { side?: string; case?: string }
  atLeast?: number
  atMost?: number
}

/** `tiny` shows that the row works; its figures mean nothing. */
export type SizeName = 'full' | 'quick' | 'tiny'

export interface Row<S, C> {
  /** The name of its file. */
  name: string
  title: string
  /** A sentence or two: what is done, and what each side stands for. */
  method: string
  figures: Readonly<Record<string, FigureKind>>
  sizes: Readonly<Record<SizeName, S>>
  rounds: Readonly<Record<SizeName, number>>
  cases(size: S): ReadonlyArray<Case<C>>
  /** Runs once for each package before the first round, in a process of its own. */
  prepare?(size: S, world: World): Promise<void>
  sides: Readonly<Record<string, Side<C>>>
  goals?: readonly Goal[]
}

/** Any row: its sizes and cases mean something to the row alone. */
// biome-ignore lint/suspicious/noExplicitAny: the sizes and cases of rows have nothing in common
export type AnyRow = Row<any, any>

/** A peer: another project that does the same work, for the rows in which it can. */
export interface Peer {
  /** The packages that it needs, each with its version. */
  packages: Readonly<Record<string, string>>
  /** By the name of the row, then by the name of the side: one project may take part with several durabilities. */
  rows: Readonly<Record<string, Readonly<Record<string, Side<never>>>>>
}

/** Checks the types of a row where it is written. */
export function defineRow<S, C>(row: Row<S, C>): Row<S, C> {
  return row
}

/** The sizes of a run, changed by the environment: `BENCH_TASKS=500` replaces the size `tasks`. */
export function sizeOf(row: AnyRow, size: SizeName, environment: NodeJS.ProcessEnv = process.env): object {
  const sizes = row.sizes[size] as Record<string, number | readonly number[]>
  const changed = Object.entries(sizes).map(([key, value]) => {
    const given = environment[`BENCH_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`]
    if (given === undefined) return [key, value]
    return [key, Array.isArray(value) ? given.split(',').map(Number) : Number(given)]
  })
  return Object.fromEntries(changed)
}
