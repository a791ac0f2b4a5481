// `errand repl` at a terminal: a pseudo-terminal with a process, typed keys, and the screen.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine } from '../../../../src/index.ts'
import { keys, ReplTerminal } from '../../../surfaces/repl/repl-terminal.ts'

/** A folder with a ledger, and a second engine on it in this process that runs no tasks. */
async function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'errand-repl-'))
  mkdirSync(folder, { recursive: true })
  const engine = await createEngine({ ledger: join(folder, 'ledger.db'), work: false })
  return {
    folder,
    engine,
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    async [Symbol.asyncDispose]() {
      await engine.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** It prints again and again, because who follows it sees only what comes later. */
const busy = '/create busy --executor shell --input {"run": "while [ ! -e go ]; do echo again; sleep 0.05; done"}'
const talker = `
- when: { goal: plain }
  text: "Answer one."
- when: { goal: which }
  tools: [{ name: ask_user, input: { question: "Sure?" } }]
- when: { last: /^yes/ }
  text: "Thank you."
`

it('X-028 commands of the REPL create, list, show, pause, resume, cancel, send, draw and inspect', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder, args: ['--work'], columns: 160 })
  await repl.ready()
  await repl.enter('/quiet')
  expect(await repl.enter(busy)).toMatch(/^#1 busy created \(task-\w+\)$/)
  const after = '/create after it --by-hand'
  expect(await repl.enter(after)).toMatch(/^#2 after it created/)
  expect(await repl.enter('await engine.block($, await tasks.busy); 0')).toBe('0')
  expect(await repl.enter('/ps')).toMatch(/1 +\w+ +working .*busy\n2 +\w+ +blocked .*after it/)
  expect(await repl.enter('/tree')).toMatch(/#1 busy working \(\w+\)\n#2 after it blocked/)
  expect(await repl.enter('/graph')).toBe('1. #1 busy working\n2. #2 after it blocked, after #1\n#1 holds up 1')
  expect(await repl.enter('/graph --mermaid')).toMatch(/^flowchart LR\n(?:.*\n)* +t0 --> t1/)
  expect(await repl.enter('/pause busy')).toBe('#1 busy paused')
  expect(await repl.enter('/inspect 1')).toMatch(
    /^state +paused\naccepts +resume, cancel\nwhy +.+\nrun +1 of attempt 1/m,
  )
  expect(await repl.enter('/resume #1')).toMatch(/^#1 busy (queued|working)$/)
  expect(await repl.enter('/send 1 are you there?')).toMatch(/^#1 busy \w+, message sent, which no command reads$/)
  expect(await repl.enter('/messages 1')).toContain('user: are you there?')
  expect(await repl.enter('/cancel 1 that is enough')).toBe('#1 busy canceled')
  expect(await repl.enter('/show 1')).toMatch(/^#1 busy: canceled(?:\n.*)*that is enough/)
  expect(await repl.enter('/runs 1')).toMatch(/^run +attempt +outcome.*\n1 +1 +paused/)
  expect(await repl.enter('/why 2')).toContain('#1 busy canceled that is enough')
  expect(await repl.enter('/events 2 1')).toMatch(/#2 after it task\.\w+/)
  expect(await repl.enter('/events 2 few')).toContain('N of /events is a number from 1 to 5000')
  expect(await repl.enter('/status')).toMatch(/^tasks +1 submitted, 1 canceled$/m)
  expect(await repl.enter('/limits')).toMatch(/^here +10 at once\nThere are no shared limits: /)
  repl.type(`${keys.ctrlD}`)
  expect(await repl.ended).toBe(0)
})

it('X-028 the REPL evaluates JavaScript with await, keeps declarations, awaits promises, and prints tasks as tables', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder, columns: 100 })
  await repl.ready()
  await repl.enter("const made = await create({ name: 'made' })")
  expect(await repl.enter('made.seq + 1')).toBe('2')
  expect(await repl.enter('_ + 1')).toBe('3')
  expect(await repl.enter('list()')).toMatch(/^# +id +status.*\n1 +\w+ +claimable .*made$/)
  expect(await repl.enter('tasks.made')).toMatch(/^#1 made: claimable\nid +task-/)
  expect(await repl.enter("(await tasks['1']).name")).toBe("'made'")
  expect(await repl.enter('tasks')).toMatch(/^# +id.*\n1 /)
  expect(await repl.enter('$.id === made.id')).toBe('true')
  expect(await repl.enter("call('task:why', { taskId: made.id })")).toMatch(/waits for anybody to/)
  expect(await repl.enter("abilities.task.cancel({ taskId: made.id, reason: 'x' })")).toMatch(
    /status: 'canceled',\s+statusReason: 'x'/,
  )
  expect(await repl.enter('let seen = 0; for await (const task of tasks) seen += task.seq; seen')).toBe('1')
  expect(await repl.enter('engine.events({ follow: false }).next().then(({ value }) => value)')).toMatch(
    /^\d\d:\d\d:\d\d \w{8} made task\.created$/,
  )
})

it('X-028 the REPL accepts a statement over several lines', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder })
  await repl.ready()
  repl.type(`function twice(x) {${keys.enter}`)
  await repl.until(({ line }) => line.startsWith('|'))
  repl.type(`return x * 2${keys.enter}}${keys.enter}`)
  await repl.ready()
  expect(await repl.enter('twice(21)')).toBe('42')
})

it('X-028 the REPL prints errors in one line without a stack, and continues', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder, columns: 300 })
  await repl.ready()
  await repl.enter('/create it --by-hand')
  expect(await repl.enter('/pause 1')).toMatch(/^INVALID_TRANSITION: Cannot pause #1 it: it is submitted\. .*start/)
  expect(await repl.enter('pause($)')).toMatch(/^INVALID_TRANSITION: [^\n]+$/)
  expect(await repl.enter('.resume 7')).toMatch(/^NOT_FOUND: There is no task 7\. [^\n]+$/)
  expect(await repl.enter('/paus 1')).toMatch(/^INVALID_INPUT: There is no command \/paus\. Did you mean "\/pause"\?/)
  expect(await repl.enter('@missing hello')).toMatch(/^NOT_FOUND: There is no task missing\./)
  expect(await repl.enter('/create --by-hand')).toMatch(/^INVALID_INPUT: The name or goal is missing/)
  expect(await repl.enter('/call task:whi {}')).toMatch(/^NOT_FOUND: .*Did you mean "task:why"\?/)
  expect(await repl.enter('/call task:why {')).toMatch(/^INVALID_INPUT: The input of an ability is JSON/)
  expect(await repl.enter('nothing.here')).toBe('Uncaught ReferenceError: nothing is not defined')
  expect(await repl.enter('_error.name')).toBe("'ReferenceError'")
  expect(await repl.enter('foo bar')).toBe("Uncaught SyntaxError: Unexpected identifier 'bar'")
  expect(await repl.enter('throw 7')).toBe('Uncaught 7')
  repl.type(`Promise.reject(new Error('left behind')); 8${keys.enter}`)
  await repl.shows(/^8$/)
  await repl.shows(/^· Uncaught Error: left behind$/)
  await repl.ready()
  expect(await repl.enter('/left|right/.test("left")')).toBe('true')
})

it('X-028 Ctrl-C interrupts an await, a loop and /tail, and not the session', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder })
  await repl.ready()
  for (const line of [
    "await new Promise(() => setImmediate(() => console.log('now')))",
    "console.log('now'); for (;;);",
  ]) {
    repl.type(`${line}${keys.enter}`)
    await repl.until(({ line: last, lines }) => last === '' && lines.at(-2) === 'now')
    repl.type(keys.ctrlC)
    await repl.ready()
    expect(repl.screen.lines.at(-2)).toBe('interrupted')
  }
  repl.type(`/tail${keys.enter}`)
  await repl.shows(/Ctrl-C ends it/)
  await place.engine.create({ name: 'from elsewhere' })
  await repl.shows(/#\d+ from elsewhere task\.created$/)
  repl.type(keys.ctrlC)
  await repl.ready()
  expect(await repl.enter('1 + 1')).toBe('2')
})

it('X-028 Ctrl-C in the middle of a write leaves the output of the session intact', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder, columns: 200 })
  await repl.ready()
  await repl.enter('const handle = process.stdout._handle, write = handle.writeUtf8String; 0')
  // Interrupts a write to the stream of the terminal before the stream has recorded its end.
  await repl.enter('const caught = (...written) => { write.apply(handle, written); for (;;); }')
  // The second line is printed once the stream has its own function back: Ctrl-C before that would leave it with the other one.
  const line =
    "handle.writeUtf8String = caught; console.log('now'); handle.writeUtf8String = write; console.log('then'); for (;;);"
  repl.type(`${line}${keys.enter}`)
  await repl.until(({ line: last, lines }) => last === '' && lines.at(-2) === 'then')
  repl.type(keys.ctrlC)
  await repl.shows(/^interrupted$/)
  await repl.ready()
})

it('X-028 lines that are typed ahead run in order', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder })
  await repl.ready()
  repl.type(`await new Promise((resolve) => setTimeout(resolve, 50, 'first'))${keys.enter}`)
  repl.type(`/create second --by-hand${keys.enter}'third'${keys.enter}`)
  await repl.shows(/^'third'$/)
  const shown = repl.screen.lines.filter((line) => /^('first'|#1 second created.*|'third')$/.test(line))
  expect(shown).toEqual(["'first'", expect.stringMatching(/^#1 second/), "'third'"])
})

it('X-028 changes of tasks are printed above the line being typed, which keeps its text and cursor', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder, columns: 40 })
  await repl.ready()
  await repl.enter('/create watched --by-hand')
  const half = 'a line that is longer than the terminal is wide'
  repl.type(`${half}${keys.left.repeat(5)}`)
  const cursor = ('errand> '.length + half.length - 5) % 40
  const isTyped = () =>
    repl.screen.lines.slice(-2).join('') === `errand> ${half}` && repl.screen.cursor.column === cursor
  await repl.until(isTyped)
  const [task] = (await place.engine.list()).tasks
  await place.engine.cancel(task?.id as string)
  await repl.shows(/^· #1 watched canceled$/)
  await repl.until(isTyped)
  expect(repl.screen.lines.slice(-4)).toEqual([
    expect.stringMatching(/created|task-/),
    '· #1 watched canceled',
    `errand> ${half.slice(0, 32)}`,
    half.slice(32),
  ])
  repl.type(`X${keys.enter}`)
  await repl.shows(/SyntaxError/)
  repl.type(keys.up)
  await repl.until(() => repl.screen.lines.slice(-2).join('') === `errand> ${half.slice(0, -5)}X${half.slice(-5)}`)
})

it('X-028 /quiet prints no changes, /loud all prints those of every task', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder, args: ['--quiet'] })
  await repl.ready()
  await repl.enter('/create first --by-hand')
  await place.engine.cancel(((await place.engine.list()).tasks[0] as { id: string }).id)
  expect(await repl.enter('(await settled($)).status')).toBe("'canceled'")
  expect(repl.screen.lines.filter((line) => line.startsWith('·'))).toEqual([])
  await repl.enter('/loud all')
  await place.engine.create({ name: 'second' })
  await repl.shows(/^· #2 second created$/)
})

it('X-028 a message is followed to its answer; Ctrl-C ends following and not the task', async () => {
  await using place = await setup()
  place.write('script.yaml', talker)
  const args = ['--work', '--model', 'script:script.yaml']
  await using repl = new ReplTerminal({ folder: place.folder, args })
  await repl.ready()
  repl.type(`/create which one${keys.enter}`)
  await repl.shows(/^· #1 which one asks: Sure\?$/)
  await repl.ready()
  expect(await repl.enter('@1 yes, I am')).toContain('Thank you.')
  expect(await repl.enter('@1 once more')).toMatch(
    /^INVALID_TRANSITION: Cannot send to #1 which one: it is completed\./,
  )
  await repl.enter('/quiet')
  await repl.enter(busy)
  repl.type(`@busy${keys.enter}`)
  await repl.shows(/^again$/)
  repl.type(keys.ctrlC)
  await repl.ready()
  expect(await repl.enter('(await get($)).status')).toBe("'working'")
  expect(await repl.enter('/cancel $')).toBe('#2 busy canceled')
})

it('X-028 TAB completes tasks, commands, arguments and JavaScript', async () => {
  await using place = await setup()
  const named = (name: string) => place.engine.create({ name })
  await named('reports')
  await place.engine.start(await named('reporting'))
  await named('two words')
  await using repl = new ReplTerminal({ folder: place.folder })
  await repl.ready()
  const completes = async (typed: string, whole: string) => {
    repl.type(`${typed}${keys.tab}`)
    await repl.until(({ line }) => line === `errand> ${whole}`.trimEnd())
    // The next keys are read after the completion, even if it changes nothing.
    repl.type('x')
    await repl.until(({ line }) => line === `errand> ${whole}x` || line === `errand> ${whole} x`)
    repl.type(`\u0015`)
    await repl.ready()
  }
  await completes('@reports', '@reports')
  await completes('@two', '@two')
  await completes('/pau', '/pause')
  await completes('/pause r', '/pause reporting')
  await completes('/call task:wh', '/call task:why')
  await completes('/help ca', '/help ca')
  await completes('engine.setSh', 'engine.setSharedLimits')
  await completes('abilities.board.claimN', 'abilities.board.claimN')
  repl.type(`/why r${keys.tab}`)
  await repl.until(({ line }) => line === 'errand> /why report')
  repl.type(keys.tab)
  await repl.shows(/^reporting +reports/)
})

it('X-028 the REPL saves the history for the next session, readable by its owner only', async () => {
  await using place = await setup()
  await using first = new ReplTerminal({ folder: place.folder })
  await first.ready()
  await first.enter("'a line to remember'")
  first.type(`/exit${keys.enter}`)
  expect(await first.ended).toBe(0)
  const file = join(place.folder, 'history')
  expect(readFileSync(file, 'utf8')).toContain("'a line to remember'")
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await using second = new ReplTerminal({ folder: place.folder })
  await second.ready()
  second.type(`${keys.up}${keys.up}`)
  await second.until(({ line }) => line === "errand> 'a line to remember'")
})

it.each([
  ['/exit', `/exit${keys.enter}`],
  ['.exit', `.exit${keys.enter}`],
  ['Ctrl-D', keys.ctrlD],
  ['Ctrl-C twice', `${keys.ctrlC}${keys.ctrlC}`],
])('X-028 the REPL exits with 0 and leaves nothing running after %s', async (_name, typed) => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder, args: ['--work'] })
  await repl.ready()
  repl.type(typed)
  expect(await repl.ended).toBe(0)
})

it('X-028 the REPL exits with 130 on SIGTERM, even during an await', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder })
  await repl.ready()
  repl.type(`await new Promise(() => setImmediate(() => console.log('now')))${keys.enter}`)
  await repl.shows(/^now$/)
  repl.terminate()
  expect(await repl.ended).toBe(130)
})

it('X-028 /help and .help list the commands', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder, columns: 200 })
  await repl.ready()
  const help = await repl.enter('/help')
  for (const verb of ['create', 'ps', 'tail', 'pause', 'resume', 'cancel', 'send', 'graph', 'inspect', 'exit'])
    expect(help).toMatch(new RegExp(`^/${verb}`, 'm'))
  expect(help).toMatch(/^\/help .*\n\/exit .*\nTASK is/m)
  expect(await repl.enter('.help')).toMatch(/^\.pause +stop a running task until it is resumed$/m)
  expect(await repl.enter('/help pause')).toBe('/pause TASK…\n  stop a running task until it is resumed')
  expect(await repl.enter('/abilities task:why')).toMatch(/^task:why: /)
})

it('X-028 the REPL says at its start which ledger it shows, whether it runs tasks, and how to find the commands', async () => {
  await using place = await setup()
  await using repl = new ReplTerminal({ folder: place.folder, columns: 200 })
  await repl.ready()
  expect(repl.screen.lines.slice(0, -1)).toEqual([
    expect.stringMatching(/^errand \d+\.\d+\.\d+ on .*ledger\.db, running no tasks \(--work runs them\)\.$/),
    '/help lists the commands, "@TASK text" sends a message, everything else is JavaScript. Ctrl-D ends.',
  ])
  await using working = new ReplTerminal({ folder: place.folder, args: ['--work'], columns: 200 })
  await working.shows(/, running its tasks\.$/)
  await using quiet = new ReplTerminal({ folder: place.folder, args: ['--quiet'] })
  await quiet.ready()
  expect(quiet.screen.lines).toEqual(['errand>'])
})
