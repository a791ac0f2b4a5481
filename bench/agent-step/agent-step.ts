// The cost of durability for an agent: the time of one model step with two tool calls in a ledger on disk, compared with a plain
// loop in memory that calls the same model and functions. The model has no latency, so the difference is the cost of the engine.
// The variants alternate within a round, so that a slow phase of a shared machine affects all of them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Course } from './busy-model.ts'
import { commitsMs, countCommits } from './disk.ts'
import { type Walk, walkByEngine, walkPlainly } from './loops.ts'

const rounds = Number(process.env.BENCH_AGENT_ROUNDS ?? 5)
const defaultCourse: Course = { steps: 50, calls: 2 }
const long: Course = { steps: 204, calls: 2 }
const oneCall: Course = { steps: 50, calls: 1 }
const manyCalls: Course = { steps: 50, calls: 6 }
/** Steps around these are averaged, because single steps vary. */
const places = [5, 50, 200]
const around = 4
const idleTools = 38
const aimMs = 2
/** Approximate work of the loop between two commits. */
const betweenCommitsMs = 0.5

export async function agentStep(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  try {
    await report(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Sides {
  plain: Walk[]
  memory: Walk[]
  file: Walk[]
}

async function report(folder: string): Promise<void> {
  let files = 0
  const file = (): string => join(folder, `ledger-${++files}.db`)
  const sidesOf = (): Sides => ({ plain: [], memory: [], file: [] })
  const [steps, longer, single, many, offered] = [sidesOf(), sidesOf(), sidesOf(), sidesOf(), sidesOf()]
  const [commits, rested]: [number[], number[]] = [[], []]

  // The first iterations are slower: code is compiled, pages are read.
  const commitsOfTask = await countCommits(() => walkByEngine(file(), defaultCourse))
  await walkPlainly(defaultCourse)
  for (let round = 1; round <= rounds; round++) {
    commits.push(...commitsMs(join(folder, 'commits.db'), 100, 0))
    rested.push(...commitsMs(join(folder, 'commits.db'), 100, betweenCommitsMs))
    await walk(steps, defaultCourse, file())
    await walk(longer, long, file())
    await walk(single, oneCall, file())
    await walk(many, manyCalls, file())
    offered.file.push(await walkByEngine(file(), defaultCourse, idleTools))
    await walk(steps, defaultCourse, file())
  }

  const perStep = commitsOfTask / (defaultCourse.steps + 1)
  console.log(
    `agent step: ${rounds} rounds of tasks of ${defaultCourse.steps} steps with ${defaultCourse.calls} calls each, synchronous=FULL; ${perStep.toFixed(1)} commits a step`,
  )
  console.log(
    `  a commit of one row: one after the other ${summary(commits)}, with ${betweenCommitsMs} ms of work in between ${summary(rested)}`,
  )
  console.log(`  plain loop ${summary(stepsOf(steps.plain))}`)
  console.log(`  engine, ledger in memory ${summary(stepsOf(steps.memory))}`)
  console.log(`  engine, ledger on disk ${summary(stepsOf(steps.file))}`)
  const overhead = medianOf(steps.file) - medianOf(steps.plain)
  console.log(
    `  overhead of a step: ${ms(overhead)} at the median (aim: under ${aimMs} ms), as much as ${(overhead / part(rested, 0.5)).toFixed(1)} commits with work in between; without the disk ${ms(medianOf(steps.memory) - medianOf(steps.plain))}`,
  )
  const calls = manyCalls.calls - oneCall.calls
  const perCall = (side: keyof Sides): number => (medianOf(many[side]) - medianOf(single[side])) / calls
  console.log(
    `  each further call in a step: plain loop ${ms(perCall('plain'))}, engine in memory ${ms(perCall('memory'))}, on disk ${ms(perCall('file'))}`,
  )
  for (const place of places) {
    const at = (side: keyof Sides): string => summary(stepsOf(longer[side], place))
    console.log(`  around step ${place}: plain loop ${at('plain')}, in memory ${at('memory')}, on disk ${at('file')}`)
  }
  console.log(`  with ${idleTools + 2} tools offered, on disk ${summary(stepsOf(offered.file))}`)
}

/** Runs each variant once, and checks that all have done the same. */
async function walk(sides: Sides, course: Course, file: string): Promise<void> {
  const plain = await walkPlainly(course)
  const memory = await walkByEngine(':memory:', course)
  const onDisk = await walkByEngine(file, course)
  for (const { conversation, stepsMs } of [memory, onDisk]) {
    if (conversation !== plain.conversation || stepsMs.length !== course.steps) {
      throw new Error(
        `the engine's model read ${conversation} characters at its last step, the plain loop's ${plain.conversation}`,
      )
    }
  }
  sides.plain.push(plain)
  sides.memory.push(memory)
  sides.file.push(onDisk)
}

function stepsOf(walks: readonly Walk[], place?: number): number[] {
  return walks.flatMap(({ stepsMs }) =>
    place === undefined ? stepsMs : stepsMs.slice(Math.max(0, place - 1 - around), place + around),
  )
}

function medianOf(walks: readonly Walk[]): number {
  return part(stepsOf(walks), 0.5)
}

function part(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)] as number
}

const ms = (value: number): string => `${value.toFixed(2)} ms`
const summary = (values: readonly number[]): string =>
  `${ms(part(values, 0.5))} (median), ${ms(part(values, 0.95))} (p95)`
