// Two hundred shell tasks that each append one line to a file, killed with SIGKILL at ten random moments and restarted at once: in the end
// every task is completed, every repeated line has a failed call, and no command of a killed engine runs beside its repetition.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createPlace, drawSeed, openEngine, randomOf, startEngine } from '../../crash/child.ts'
import { violations } from '../../crash/invariants.ts'

const count = 200
const kills = 10
/** More than the kills, so that no task fails as the cause of crashes. */
const maxCrashes = kills + 1

/** Complaints about overlapping commands of one task: a line of an earlier call after a later one has begun. */
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

it('a plan of 200 shell tasks that is killed ten times completes, and every repeated command has a failed call', async () => {
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
      // Every tenth one takes longer, so that kills hit running commands.
      run: `echo $ERRAND_TASK_ID $ERRAND_CALL_ID begin >> journal; echo ${index} >> lines; ${
        index % 10 === 0 ? 'sleep 0.2; ' : ''
      }echo $ERRAND_TASK_ID $ERRAND_CALL_ID end >> journal`,
    },
  }))
  let killed = 0
  for (let kill = 0; kill < kills; kill++) {
    const child = startEngine(place, { create, leave: 'settled', maxConcurrent: 4, maxCrashes, follow: true })
    // Killed at the n-th event that this process reports, of about six for each task. The ten kills cover about half of the plan, because on a
    // busy machine a process continues for a while before it is killed, and the last one needs work too.
    const nth = 10 + Math.floor(random() * 110)
    let events = 0
    await child.lineWhere((line) => ('seq' in line && ++events >= nth) || 'steps' in line)
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
  expect(await violations(place)).toEqual([])
  console.log(`${killed} kills, ${failed} calls failed for it, ${odd} lines were written more than once`)
})

it('the check for overlapping commands finds a command that outlives its engine', () => {
  const sound = 'task-a call-1 begin\ntask-b call-3 begin\ntask-b call-3 end\ntask-a call-2 begin\ntask-a call-2 end\n'
  expect(overlaps(sound)).toEqual([])
  expect(overlaps(`${sound}task-a call-1 end\n`)).toHaveLength(1)
})
