// The plan in examples/project-report, as the README runs it, in a repository with a single commit.
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { Workplace } from '../../../surfaces/cli/workplace.ts'

const example = fileURLToPath(new URL('../../../../examples/project-report', import.meta.url))
const plan = 'examples/project-report/plan.yaml'
const ledger = ['--ledger', 'examples/project-report/out/ledger.db']

function makeRepository(place: Workplace): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: place.folder,
      stdio: 'pipe',
    })
  for (const file of ['plan.yaml', '.gitignore'])
    cpSync(join(example, file), join(place.folder, 'examples/project-report', file))
  place.write('package.json', '{\n  "dependencies": {\n    "yaml": "2.0.0"\n  }\n}\n')
  git('init', '-q')
  git('add', '-A')
  git('commit', '-q', '-m', 'one')
}

it('the example project report completes after kill -9, and a second start finds it completed', async () => {
  await using place = new Workplace()
  makeRepository(place)
  const first = place.start('run', plan, ...ledger)
  await first.printed(/size +failed/)
  first.kill('SIGKILL')
  await first.ended

  const second = await place.start('run', plan, ...ledger).ended
  expect(second.code).toBe(0)
  expect(second.out).not.toMatch(/prepare +started/)
  expect(second.out).toMatch(/size +started, attempt 2/)
  expect(second.out).toMatch(/where +\| The report is in examples\/project-report\/out\/report\.md/)
  const report = readFileSync(join(place.folder, 'examples/project-report/out/report.md'), 'utf8')
  expect(report).toMatch(
    /^# Project report\n\n1 commits up to [0-9a-f]+ \(\d{4}-\d\d-\d\d\), 0 tests written, \d+ KiB of history\.$/m,
  )
  expect(report).toContain('    1  Ada')
  expect(report).toContain('| (top) | 1 | 5 |')
  expect(report).toContain('    yaml 2.0.0')
  expect(report).toContain('## Commits by day')

  const third = await place.start('run', plan, ...ledger).ended
  expect(third.code).toBe(0)
  expect(third.out).toContain('nothing to do. Add --again to run the plan again.')
  expect(third.out).toContain('The report is in examples/project-report/out/report.md')
  expect(execFileSync('git', ['status', '--porcelain'], { cwd: place.folder, encoding: 'utf8' })).toBe('')
})

it('the example project report, killed in the middle of its tasks, runs only those again that had not completed', async () => {
  await using place = new Workplace()
  makeRepository(place)
  const first = place.start('run', plan, ...ledger, '--concurrency', '2')
  await first.printed(/collect\/lines +completed[\s\S]*collect\/\w+ +started/)
  first.kill('SIGKILL')
  await first.ended
  const { code, out } = await place.start('run', plan, ...ledger).ended
  expect(code).toBe(0)
  expect(out).not.toMatch(/collect\/lines +(started|continues)/)
  expect(out).toMatch(/collect\/\w+ +(interrupted|continues)/)
})

it('npm start announces its build, and runs the example project report with its own ledger', () => {
  const { scripts } = JSON.parse(readFileSync(join(example, '../../package.json'), 'utf8')) as {
    scripts: Record<'start', string>
  }
  expect(scripts.start.split(' && ')).toEqual([
    "echo 'Building errand: this takes some seconds.'",
    'npm run -s build',
    `node dist/bin.js run ${plan} ${ledger.join(' ')}`,
  ])
})
