// The commands that look at tasks, after the process that ran them was killed, and while it is stopped.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { running } from './running-plan.ts'
import { Workplace } from './workplace.ts'

it('after kill -9 of errand run, why says what continues its task, and ps, tree and show have it as interrupted', async () => {
  await using place = new Workplace()
  const { run, id } = await running(place)
  run.kill('SIGKILL')
  await run.ended

  const why = await place.errand('why', '#2')
  expect(why.out).toBe(
    '#2 busy was running (run 1), but the process of its engine has ended. It continues when an engine that has the executor shell works on this ledger (on the command line: `errand run` with the plan, or `errand serve`).\n',
  )
  expect(JSON.parse((await place.errand('why', '#2', '--json')).out)).toMatchObject({
    reason: 'lost',
    status: 'working',
  })
  expect((await place.errand('why', '#1')).out).toMatch(/none of its tasks runs now.*\n {2}#2 busy interrupted\n/)
  expect((await place.errand('why', '#3')).out).toMatch(/comes after #2 busy.*\n {2}#2 busy interrupted\n/)
  expect((await place.errand('board', 'why', id)).out).toMatch(
    /^busy \(task 2\) was running \(run 1\), but the process/,
  )
  expect((await place.errand('ps')).out).toMatch(/^2 .* interrupted .* busy$/m)
  expect((await place.errand('tree')).out).toMatch(/#2 busy interrupted/)
  expect((await place.errand('show', '#2')).out).toMatch(/^#2 busy: interrupted\n {2}#2 busy was running/)
  expect(await place.task('busy')).toMatchObject({ status: 'working', statusReason: 'interrupted' })

  place.write('go', '')
  const next = await place.start('run', 'plan.yaml').ended
  expect(next.code).toBe(0)
  expect((await place.errand('why', '#2')).out).toBe('#2 busy is completed.\n')
})

it('a process that is stopped holds its lock, so its task counts as running', async () => {
  await using place = new Workplace()
  const { run } = await running(place)
  stop(run.child.pid as number, join(place.folder, 'ledger.db'))
  expect((await place.errand('why', '#2')).out).toBe('#2 busy is running (run 1).\n')
  expect((await place.errand('ps')).out).toMatch(/^2 .* working .* busy$/m)
  run.kill('SIGCONT')
  place.write('go', '')
  expect((await run.ended).code).toBe(0)
})

/** Stops a process outside of a commit, during which it would hold the write lock of the file: this process holds it meanwhile. */
function stop(pid: number, ledger: string): void {
  const database = new Database(ledger, { timeout: 5_000 })
  database.exec('begin immediate')
  process.kill(pid, 'SIGSTOP')
  while (
    !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)])
      .toString()
      .startsWith('T')
  );
  database.exec('rollback')
  database.close()
}
