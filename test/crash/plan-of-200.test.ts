// Two hundred shell tasks that each append one line to a file, killed with SIGKILL at ten random moments and restarted at once:
// at the end every task is completed, for every line that is missing or double there is a call that says failed, and no command
// of a dead engine was still running beside its successor.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createPlace, drawSeed, openEngine, randomOf, startEngine } from './child.ts'
import { violations } from './invariants.ts'

const count = 200
const kills = 10
/** A command that is always at work when its engine is killed from outside is not the one that kills it. */
const maxCrashes = kills + 1

/** Complaints about commands of one task that ran beside each other: a line of an earlier call after a later one began. */
function overlaps(journal: string): string[] {
  const latest = new Map<string, string>()
  const complaints: string[] = []
  for (const line of journal.split('\n').filter((each) => each !== '')) {
    const [task, call, what] = line.split(' ') as [string, string, string]
    if (what === 'begin') latest.set(task, call)
    else if (latest.get(task) !== call) complaints.push(`${task}: ${call} still ran when ${latest.get(task)} had begun`)
  }
  return complaints
}

it('A plan of 200 shell tasks killed ten times at random ends complete, with nothing silent', async () => {
  const seed = drawSeed('plan of 200')
  const random = randomOf(seed)
  const place = createPlace()
  const lines = join(place.folder, 'lines')
  const journal = join(place.folder, 'journal')
  writeFileSync(lines, '')
  writeFileSync(journal, '')
  const create = Array.from({ length: count }, (_, index) => ({
    executor: 'shell',
    key: `task ${index}`,
    name: `task ${index}`,
    input: {
      shell: '/bin/sh',
      cwd: place.folder,
      // Every tenth one takes a while, so that a kill finds commands in the middle of their work.
      run: `echo $ERRAND_TASK_ID $ERRAND_CALL_ID begin >> journal; echo ${index} >> lines; ${
        index % 10 === 0 ? 'sleep 0.2; ' : ''
      }echo $ERRAND_TASK_ID $ERRAND_CALL_ID end >> journal`,
    },
  }))
  let killed = 0
  for (let death = 0; death < kills; death++) {
    const child = startEngine(place, { create, leave: 'settled', maxConcurrent: 4, maxCrashes, follow: true })
    // A moment is an event: the n-th that this process tells, of about six for each task. All ten together come to some half of
    // the plan: on a busy machine a process gets further before it is killed, and the last of them has to find work too.
    const ctx = 10 + Math.floor(random() * 110)
    let heard = 0
    await child.heard((line) => ('seq' in line && ++heard >= ctx) || 'steps' in line)
    if ((await child.kill()).signal === 'SIGKILL') killed++
  }
  const last = startEngine(place, { create, leave: 'settled', maxConcurrent: 4, maxCrashes })
  expect((await last.exited).code, JSON.stringify(last.lines.slice(-3))).toBe(0)
  expect(killed).toBe(kills)

  const engine = await openEngine(place, { work: false })
  const { tasks } = await engine.list({ limit: 500 })
  expect(tasks).toHaveLength(count)
  expect(tasks.filter((task) => task.status !== 'completed')).toEqual([])
  const written = readFileSync(lines, 'utf8').trim().split('\n').map(Number)
  let odd = 0
  let failed = 0
  for (const task of tasks) {
    const index = Number(task.name.split(' ')[1])
    const times = written.filter((each) => each === index).length
    const calls = await engine.calls(task)
    const broken = calls.filter((call) => call.status === 'failed').length
    expect(calls.filter((call) => call.status === 'completed')).toHaveLength(1)
    failed += broken
    if (times === 1) continue
    odd++
    expect(times, `${task.name}, seed ${seed}`).toBeGreaterThan(0)
    expect(broken, `${task.name} wrote ${times} lines, seed ${seed}`).toBeGreaterThanOrEqual(times - 1)
  }
  expect(overlaps(readFileSync(journal, 'utf8')), `seed ${seed}`).toEqual([])
  await engine.close()
  expect(violations(place)).toEqual([])
  console.log(`${killed} kills, ${failed} calls failed for it, ${odd} lines were written more than once`)
}, 60_000)

it('A command that outlives its engine beside its successor would be seen', () => {
  const sound = 'task-a call-1 begin\ntask-b call-3 begin\ntask-b call-3 end\ntask-a call-2 begin\ntask-a call-2 end\n'
  expect(overlaps(sound)).toEqual([])
  expect(overlaps(`${sound}task-a call-1 end\n`)).toHaveLength(1)
})
