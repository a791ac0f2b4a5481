// Memory on the command line: observations, facts, branches, consolidation and merges.

import { expect, it } from 'vitest'
import { main } from '../../../src/surfaces/cli/main.ts'
import { statementCaller } from '../../../src/surfaces/terminal/caller.ts'
import { fakeIo } from './fake-io.ts'
import { Workplace } from './workplace.ts'

const json = ({ out }: { out: string }) => JSON.parse(out)
const jsonLines = ({ out }: { out: string }) =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
const errorOf = ({ err }: { err: string }) => JSON.parse(err).error
/** The cells of a table, without the first column if it differs between runs. */
const cells = ({ out }: { out: string }, first = 0) =>
  out
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(/ {2,}/).slice(first))

const tokens = (minutes: number) => `Tokens last ${minutes} minutes`

/** An existing ledger without facts. */
async function empty(): Promise<Workplace> {
  const place = new Workplace()
  await place.errand('add', 'Fix auth', '--team')
  return place
}

async function see(place: Workplace, agent: string, session: string, type: string, text: string): Promise<void> {
  const where = ['--session', session, '--type', type, '--task', '#1', '--agent', agent]
  expect(await place.errand('memory', 'observe', ...where, text)).toMatchObject({ code: 0, err: '' })
}

/** A completed task: ann observed a fact twice, and bob observed one that contradicts it, and then the same. */
async function consolidatedMemory(): Promise<Workplace> {
  const place = await empty()
  await place.errand('task', 'join', '#1', '--as', 'ann')
  await see(place, 'ann', 's1', 'decision', tokens(30))
  await place.errand('memory', 'consolidate', 'session', '--session', 's1')
  await see(place, 'ann', 's2', 'decision', tokens(30))
  await see(place, 'ann', 's2', 'insight', 'The form is slow')
  await place.errand('task', 'leave', '#1', '--as', 'ann')
  await place.errand('task', 'join', '#1', '--as', 'bob')
  await see(place, 'bob', 's3', 'decision', tokens(45))
  await see(place, 'bob', 's3', 'decision', tokens(30))
  await place.errand('task', 'leave', '#1', '--as', 'bob')
  await place.errand('task', 'complete', '#1')
  return place
}

it('errand help memory describes each verb, and a misspelled verb gets a suggestion', async () => {
  await using place = new Workplace()
  const { out } = await place.errand('help', 'memory')
  expect(out).toContain('Usage: errand memory [VERB]')
  const names = Array.from(out.matchAll(/^ {2}([a-z]+) {2,}\S/gm), ([, name]) => name as string)
  expect(names.join(' ')).toBe('facts search why branches history observe remember consolidate merge archive')
  for (const name of names) {
    const help = await place.errand('help', 'memory', name)
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining(`Usage: errand memory ${name}`) })
    expect(await place.errand('memory', name, '--help')).toEqual(help)
  }
  expect(await place.errand('memory', 'wyh')).toMatchObject({ code: 2, err: expect.stringContaining('"why"') })
})

it('errand memory does not create a ledger for reading', async () => {
  await using place = new Workplace()
  expect(await place.errand('memory')).toMatchObject({ code: 2, err: expect.stringContaining('no ledger') })
  expect(place.lines('ledger.db')).toEqual([])
})

it('errand memory says how to add facts when there are none, and prints nothing with --json', async () => {
  await using place = new Workplace()
  await place.errand('add', 'No team')
  const nothing = expect.stringMatching(/^There are no facts yet\. .*"errand memory remember TEXT".*\n$/)
  for (const [args, out, asJson] of [
    [[], nothing, ''],
    [['facts', '--inherited'], nothing, ''],
    [['--category', 'security'], 'No facts on main.\n', ''],
    [['branches'], nothing, expect.stringMatching(/^\{"name":"main",.*"facts":0,.*\}\n$/)],
    [['history'], 'Nothing has been consolidated.\n', ''],
    [['history', '--agent', 'ann'], 'No entry matches.\n', ''],
    [['search', 'anything'], 'No fact matches.\n', ''],
    [
      ['consolidate', 'project'],
      expect.stringMatching(/^0 durable, 0 not\n {2}\S.*\n$/),
      expect.stringMatching(/^\{.*\}\n$/),
    ],
  ] as const) {
    expect({ args, ...(await place.errand('memory', ...args)) }).toEqual({ args, code: 0, out, err: '' })
    expect({ args, ...(await place.errand('memory', ...args, '--json')) }).toEqual({
      args,
      code: 0,
      out: asJson,
      err: '',
    })
  }
  await place.errand('add', 'Fix auth', '--team')
  await place.errand('memory', 'remember', 'Seen here', '--branch', 'task/fix-auth')
  expect((await place.errand('memory')).out).toBe(
    'No facts on main. "errand memory branches" shows the branches that have facts.\n',
  )
  expect(cells(await place.errand('memory', 'branches'))[2]?.[2]).toBe('1')
})

it('errand memory ends without an error when the reader of its output closes the pipe', async () => {
  await using place = await empty()
  for (const args of [['--json'], ['branches'], ['history', '--json']]) {
    const run = place.start('memory', ...args)
    run.child.stdout?.destroy()
    expect(await run.ended).toMatchObject({ err: '' })
  }
})

it('S2-043 errand memory lists the facts of a branch with confidence, category, agent and disputes', async () => {
  await using place = await consolidatedMemory()
  expect(cells(await place.errand('memory'), 1)).toEqual([
    ['sure', 'category', 'who', 'fact'],
    ['0.90', 'decision', 'ann', tokens(30)],
  ])
  const onTask = await place.errand('memory', 'facts', '--branch', 'task/fix-auth')
  expect(cells(onTask, 1)).toEqual([
    ['sure', 'category', 'who', 'fact'],
    ['0.70 disputed', 'decision', 'bob', tokens(45)],
    ['0.70', 'insight', 'ann', 'The form is slow'],
    ['0.90 disputed', 'decision', 'ann', tokens(30)],
  ])
  expect(await place.errand('memory', '--branch', 'task/fix-auth')).toEqual(onTask)
  const named = async (...args: string[]) =>
    jsonLines(await place.errand('memory', '--json', '--branch', 'task/fix-auth', ...args)).map(({ text }) => text)
  expect(await named('--category', 'insight')).toEqual(['The form is slow'])
  expect(await named('--status', 'superseded')).toEqual([])
  expect(await named('--status', 'active', '--category', 'decision')).toEqual([tokens(45), tokens(30)])
  const cut = await place.errand('memory', '--branch', 'task/fix-auth', '--limit', '1', '--json')
  expect(jsonLines(cut)).toMatchObject([
    { text: tokens(45), confidence: 0.7, status: 'active', disputed: true, branch: 'task/fix-auth', agentId: 'bob' },
  ])
  expect(cut.err).toContain('There are more')
  expect(await place.errand('memory', '--category', 'security')).toEqual({
    code: 0,
    out: 'No facts on main.\n',
    err: '',
  })
})

it('S2-016 errand memory --inherited includes the facts of the branches above, and no others', async () => {
  await using place = await consolidatedMemory()
  await place.errand('memory', 'remember', 'Known to all')
  const on = async (...args: string[]) =>
    jsonLines(await place.errand('memory', '--json', '--branch', 'task/fix-auth/bob', ...args))
  const own = await on('--category', 'decision')
  expect(own.map(({ text, branch }) => [text, branch])).toEqual([
    [tokens(30), 'task/fix-auth/bob'],
    [tokens(45), 'task/fix-auth/bob'],
  ])
  const all = await on('--inherited')
  expect(all.map(({ text }) => text)).toContain('Known to all')
  expect(new Set(all.map(({ branch }) => branch))).not.toContain('task/fix-auth/ann')
  const shown = await place.errand('memory', '--branch', 'task/fix-auth/bob', '--inherited')
  expect(cells(shown)[0]).toEqual(['id', 'sure', 'category', 'branch', 'who', 'fact'])
})

it('errand memory refuses unknown branches, states and types', async () => {
  await using place = await empty()
  for (const [args, code] of [
    [['--branch', 'none'], 'NOT_FOUND'],
    [['--status', 'actve'], 'INVALID_INPUT'],
    [['--limit', '0'], 'INVALID_INPUT'],
    [['branches', 'x'], 'INVALID_INPUT'],
    [['history', '--type', 'merges'], 'INVALID_INPUT'],
    [['history', '--task', '#9'], 'NOT_FOUND'],
    [['why', 'zzz'], 'NOT_FOUND'],
    [['observe', '--session', 's', 'text'], 'INVALID_INPUT'],
    [['observe', '--type', 'insight', 'text'], 'INVALID_INPUT'],
    [['observe', '--session', 's', '--type', 'guess', 'text'], 'INVALID_INPUT'],
    [['observe', '--session', 's', '--type', 'insight', '--branch', 'none', 'text'], 'NOT_FOUND'],
    [['remember', 'x', '--confidence', '1.2'], 'INVALID_INPUT'],
    [['remember', 'x', '--confidence', 'high'], 'INVALID_INPUT'],
    [['consolidate', 'sesion'], 'INVALID_INPUT'],
    [['consolidate', 'session'], 'INVALID_INPUT'],
    [['consolidate', 'task', '--task', '#1', '--task', '#1'], 'INVALID_INPUT'],
    [['consolidate', 'agent', '--agent', 'unknown', '--task', '#1'], 'NOT_FOUND'],
    [['merge', 'none'], 'NOT_FOUND'],
    [['merge', 'main'], 'INVALID_INPUT'],
    [['merge', 'task/fix-auth', '--only', 'some'], 'INVALID_INPUT'],
    [['archive', 'main'], 'INVALID_INPUT'],
  ] as const) {
    const refused = await place.errand('memory', ...args, '--json')
    expect({ args, code: refused.code, error: errorOf(refused).code }).toEqual({ args, code: 2, error: code })
  }
})

it('S2-009 S2-037 errand memory branches shows the tree with states, numbers of facts and owners', async () => {
  await using place = await consolidatedMemory()
  const { id, seq } = await place.task('Fix auth')
  const task = `task #${seq}`
  expect(cells(await place.errand('memory', 'branches'))).toEqual([
    ['branch', 'status', 'facts', 'of'],
    ['main', 'active', '1'],
    ['· task/fix-auth', 'merged', '3', task],
    ['· · task/fix-auth/ann', 'merged', '2', `ann, ${task}`],
    ['· · task/fix-auth/bob', 'merged', '2', `bob, ${task}`],
  ])
  expect(jsonLines(await place.errand('memory', 'branches', '--json'))[1]).toMatchObject({
    name: 'task/fix-auth',
    parent: 'main',
    status: 'merged',
    taskId: id,
    facts: 3,
  })
})

it('S2-038 S2-108 errand memory archive closes a branch, which accepts no new facts and can be read', async () => {
  await using place = await consolidatedMemory()
  const archived = await place.errand('memory', 'archive', 'task/fix-auth')
  expect(archived).toEqual({ code: 0, out: 'task/fix-auth is archived.\n', err: '' })
  expect(json(await place.errand('memory', 'archive', 'task/fix-auth', '--json'))).toEqual({
    observations: 0,
    branches: ['task/fix-auth', 'task/fix-auth/ann', 'task/fix-auth/bob'],
  })
  const branches = jsonLines(await place.errand('memory', 'branches', '--json'))
  expect(branches.map(({ status }) => status)).toEqual(['active', 'archived', 'archived', 'archived'])
  const late = await place.errand('memory', 'remember', 'Late', '--branch', 'task/fix-auth', '--json')
  expect(late.code).toBe(2)
  expect(errorOf(late).code).toBe('BRANCH_CLOSED')
  expect(jsonLines(await place.errand('memory', '--branch', 'task/fix-auth', '--json'))).toHaveLength(3)
})

it('S2-095 S2-096 S2-100 errand memory history prints one line per run', async () => {
  await using place = await consolidatedMemory()
  expect(cells(await place.errand('memory', 'history'), 1)).toEqual([
    ['run', 'did', 'branch'],
    ['merge', '1 merged', 'task/fix-auth → main'],
    ['task_checkpoint', '1 durable, 2 not', 'task/fix-auth'],
    ['merge', '2 merged', expect.stringMatching(/^task\/fix-auth\/bob/)],
    ['agent_complete', 'summarized', 'task/fix-auth/bob'],
    ['session_end', '2 observed, 2 new (s3)', 'task/fix-auth/bob'],
    ['merge', '2 merged', expect.stringMatching(/^task\/fix-auth\/ann/)],
    ['agent_complete', 'summarized', 'task/fix-auth/ann'],
    ['session_end', '2 observed, 1 new, 1 confirmed (s2)', 'task/fix-auth/ann'],
    ['session_end', '1 observed, 1 new (s1)', 'task/fix-auth/ann'],
  ])
  const count = async (...args: string[]) =>
    jsonLines(await place.errand('memory', 'history', '--json', ...args)).length
  expect(await count('--agent', 'ann')).toBe(4)
  expect(await count('--session', 's3')).toBe(1)
  expect(await count('--task', '#1')).toBe(9)
  expect(await count('--type', 'merge')).toBe(3)
  expect(await count('--branch', 'main')).toBe(2)
  const cut = await place.errand('memory', 'history', '--limit', '2', '--json')
  expect(jsonLines(cut)).toHaveLength(2)
  expect(cut.err).toContain('There are more')
})

it('errand memory history says that nothing has been consolidated', async () => {
  await using place = await empty()
  expect((await place.errand('memory', 'history')).out).toBe('Nothing has been consolidated.\n')
})

const timed = /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}/
/** The lines of the history without times, and ids as `<1>`, `<2>` in order of appearance. */
function decisionLines(out: string): string[] {
  const names = new Map<string, string>()
  const name = (id: string) => {
    if (!names.has(id)) names.set(id, `<${names.size + 1}>`)
    return names.get(id) as string
  }
  const lines = out.split('\n').slice(0, -1)
  return lines.map((line) =>
    line
      .replace(timed, '')
      .replace(/^fact-([a-z2-7]{8})[a-z2-7]{5}\b/, (_, id: string) => name(id))
      .replace(
        /(?<=^(?:\S+ +)?|(?:from|by|to|contradicts) |^ {2})([a-z2-7]{8})(?= (?:is|on|gives|contradicts|sums|\())/g,
        name,
      )
      .replace(/ {2,}(?=\S)/g, (gap, at: number) => (at === 0 ? gap : ' ')),
  )
}

it('S2-066 errand memory why shows observers, changes of confidence, merges and contradictions', async () => {
  await using place = await consolidatedMemory()
  const [fact] = jsonLines(await place.errand('memory', '--json'))
  const why = await place.errand('memory', 'why', fact.id)
  expect(why.err).toBe('')
  expect(decisionLines(why.out)).toEqual([
    `<1>: ${tokens(30)}`,
    '  0.90, decision, on main, first stated by ann',
    '  stated by a program',
    '',
    `task/fix-auth/ann ann observed in session s1: ${tokens(30)} (decision)`,
    'task/fix-auth/ann <2> is created from what ann observed in session s1: decision, 0.70',
    `task/fix-auth/ann ann observed in session s2: ${tokens(30)} (decision)`,
    'task/fix-auth/ann <2> is confirmed by what ann observed in session s2: 0.70 → 0.80, 100 % alike',
    'task/fix-auth <3> is merged from <2> on task/fix-auth/ann: 0.80',
    `task/fix-auth/bob bob observed in session s3: ${tokens(30)} (decision)`,
    'task/fix-auth/bob <4> is created from what bob observed in session s3: decision, 0.70',
    expect.stringMatching(/^task\/fix-auth\/bob <4> contradicts \S+; both stay active \(keep-both: numbers\)$/),
    'task/fix-auth <3> is confirmed by <4> on task/fix-auth/bob: 0.80 → 0.90, 100 % alike',
    'task/fix-auth <3> is judged durable',
    'main <1> is merged from <3> on task/fix-auth: 0.90',
  ])
  const times = why.out.split('\n').flatMap((line) => timed.exec(line)?.[0] ?? [])
  expect(times).toEqual(times.toSorted())
})

it('S2-104 errand memory why names the contradicting fact, whichever of the two came later', async () => {
  await using place = await consolidatedMemory()
  const facts = jsonLines(await place.errand('memory', '--json', '--branch', 'task/fix-auth', '--category', 'decision'))
  const verbs: string[] = []
  for (const [fact, other] of [facts, facts.toReversed()]) {
    const { decisions, mentions, others } = json(await place.errand('memory', 'why', fact.id, '--json'))
    const contradicted = [...decisions, ...mentions].filter(({ kind }) => kind === 'contradicted')
    expect(contradicted).toMatchObject([{ note: 'keep-both: numbers' }])
    expect(contradicted[0].otherId ?? contradicted[0].factId).toBe(other.id)
    expect(others).toContainEqual(other)
    const { out } = await place.errand('memory', 'why', fact.id)
    expect(out).toMatch(new RegExp(`It is contradicted by:\\n {2}\\w+ on task/fix-auth .*: ${other.text}\\n$`))
    const own = new RegExp(` ${fact.id.slice(5, 13)} (is contradicted by|contradicts) \\w{8}; both stay active`)
    verbs.push(own.exec(out)?.[1] ?? '')
  }
  expect(verbs.toSorted()).toEqual(['contradicts', 'is contradicted by'])
})

it('S2-075 errand memory why names the fact that replaced it, and the facts that that one replaced', async () => {
  await using place = await empty()
  await place.errand('task', 'join', '#1', '--as', 'ann')
  const state = async (confidence: string) => {
    const args = ['--branch', 'task/fix-auth/ann', '--confidence', confidence]
    return (await place.errand('memory', 'remember', ...args, 'The cache is cold')).out.trim()
  }
  const [first, second] = [await state('0.7'), await state('0.9')]
  const done = await place.errand('memory', 'consolidate', 'agent', '--agent', 'ann', '--task', '#1')
  expect(done.out).toContain('1 combined, summarized')
  const { out } = await place.errand('memory', 'why', first)
  expect(out).toContain('0.70 superseded')
  expect(out).toMatch(/ is replaced by \w{8}, which says the same, 100 % alike/)
  expect(out).toContain(`Replaced by ${second.slice(5, 13)} on task/fix-auth/ann: The cache is cold`)
  expect(json(await place.errand('memory', 'why', second, '--json'))).toMatchObject({
    fact: { id: second, status: 'active' },
    decisions: [],
    mentions: [{ kind: 'superseded', factId: first, similarity: 1 }],
    others: [{ id: first, status: 'superseded' }],
  })
  const survivor = await place.errand('memory', 'why', second)
  expect(survivor.out).toContain(`replaces ${first.slice(5, 13)}, which says the same, 100 % alike`)
  const alone = (await place.errand('memory', 'remember', 'Nothing asked')).out.trim()
  expect((await place.errand('memory', 'why', alone)).out).toContain('The fact was stated directly')
})

it('errand memory why shows where a fact was merged, and which facts it confirmed there', async () => {
  await using place = await consolidatedMemory()
  const [, fact] = jsonLines(
    await place.errand('memory', '--json', '--branch', 'task/fix-auth', '--category', 'decision'),
  )
  expect((await place.errand('memory', 'why', fact.id)).out).toMatch(/main +\w{8} is merged as \w{8} on main: 0\.90\n/)
  const [bobs] = jsonLines(await place.errand('memory', '--json', '--branch', 'task/fix-auth/bob'))
  expect(bobs.text).toMatch(/^bob found/)
  const [, decision] = jsonLines(await place.errand('memory', '--json', '--branch', 'task/fix-auth/bob'))
  expect((await place.errand('memory', 'why', decision.id)).out).toMatch(
    / \w{8} confirms \w{8} on task\/fix-auth: 0\.80 → 0\.90, 100 % alike\n/,
  )
})

it('errand memory why accepts any unique prefix of an id, on any branch', async () => {
  await using place = await consolidatedMemory()
  const [fact] = jsonLines(await place.errand('memory', '--json', '--branch', 'task/fix-auth/bob'))
  const id: string = fact.id
  for (const ref of [id, id.slice(0, 12), id.slice('fact-'.length), id.slice('fact-'.length, 11)]) {
    expect(json(await place.errand('memory', 'why', ref, '--json')).fact.id).toBe(id)
  }
  const several = await place.errand('memory', 'why', 'fact-', '--json')
  expect(several.code).toBe(2)
  expect(errorOf(several)).toMatchObject({ code: 'INVALID_INPUT' })
  expect(errorOf(several).details.candidates).toHaveLength(10)
})

it('S2-060 S2-061 errand memory observe and consolidate turn the observations of a session into facts, once', async () => {
  await using place = await empty()
  for (const type of ['insight', 'tool_use', 'error', 'decision', 'discovery']) {
    const args = ['--session', 's1', '--type', type, '--outcome', 'ok']
    const { out } = await place.errand('memory', 'observe', ...args, `It was ${type} day`, 'today')
    expect(out).toMatch(/^obs-\w+\n$/)
  }
  const consolidate = () => place.errand('memory', 'consolidate', 'session', '--session', 's1')
  expect((await consolidate()).out).toBe('3 observed, 3 new\n')
  expect((await consolidate()).out).toBe('nothing to do\n')
  const facts = jsonLines(await place.errand('memory', '--json'))
  expect(facts.map(({ text }) => text)).toEqual([
    'It was discovery day today',
    'It was decision day today',
    'It was insight day today',
  ])
})

it('errand memory observe --branch keeps the observation and its outcome on that branch only', async () => {
  await using place = await empty()
  const observe = (...args: string[]) =>
    place.errand('memory', 'observe', '--session', 's1', '--type', 'insight', ...args)
  const { observationId } = json(
    await observe('--branch', 'task/fix-auth', '--outcome', 'repaired', 'The lock was held', '--json'),
  )
  expect(observationId).toMatch(/^obs-\w+$/)
  await observe('Known to all')
  const onTask = ['session', '--session', 's1', '--branch', 'task/fix-auth']
  expect((await place.errand('memory', 'consolidate', ...onTask)).out).toBe('1 observed, 1 new\n')
  expect((await place.errand('memory', '--json')).out).toBe('')
  const [fact] = jsonLines(await place.errand('memory', '--branch', 'task/fix-auth', '--json'))
  expect(fact).toMatchObject({ text: 'The lock was held', observationId })
  expect((await place.errand('memory', 'why', fact.id)).out).toContain(
    'observed in session s1: The lock was held (insight, repaired)',
  )
})

it('errand memory observe takes the agent from the environment', async () => {
  await using place = await empty()
  await place.errand('task', 'join', '#1', '--as', 'ann')
  const env = { ERRAND_LEDGER: `${place.folder}/ledger.db`, ERRAND_AGENT: 'ann' }
  const io = fakeIo({ cwd: place.folder, env })
  expect(await main(['memory', 'observe', '--session', 's', '--type', 'insight', '--task', '#1', 'Seen'], io)).toBe(0)
  await place.errand('memory', 'consolidate', 'session', '--session', 's')
  expect(jsonLines(await place.errand('memory', '--branch', 'task/fix-auth/ann', '--json'))).toMatchObject([
    { text: 'Seen', agentId: 'ann' },
  ])
})

it('V-05 errand memory remember records a person at a terminal, else a program', () => {
  const keyboard = process.stdin as never
  const stdout = { write: () => true, isTTY: true }
  expect(statementCaller({ keyboard, stdout })).toEqual({ caller: { surface: 'terminal' } })
  expect(statementCaller({ keyboard: undefined, stdout })).toEqual({ caller: { surface: 'cli' } })
  expect(statementCaller({ keyboard, stdout: { write: () => true } })).toEqual({ caller: { surface: 'cli' } })
})

it('errand memory remember stores category and confidence', async () => {
  await using place = await empty()
  const { out } = await place.errand('memory', 'remember', 'Dates', 'are', 'in UTC', '--category', 'pattern')
  expect(jsonLines(await place.errand('memory', '--json'))).toMatchObject([
    { id: out.trim(), text: 'Dates are in UTC', category: 'pattern', confidence: 0.7 },
  ])
  expect(json(await place.errand('memory', 'remember', 'Said to a script', '--json'))).toEqual({
    factId: expect.stringMatching(/^fact-\w+$/),
  })
  await place.errand('memory', 'remember', 'Fix the bug', '--confidence', '.95', '--branch', 'task/fix-auth')
  expect(jsonLines(await place.errand('memory', '--branch', 'task/fix-auth', '--json'))).toMatchObject([
    { category: 'bug_fix', confidence: 0.95 },
  ])
})

it('S2-105 errand memory merge moves facts to the branch above once, and prints the contradictions', async () => {
  await using place = await empty()
  await place.errand('memory', 'remember', tokens(30))
  const stated = ['--branch', 'task/fix-auth']
  await place.errand('memory', 'remember', tokens(45), ...stated)
  await place.errand('memory', 'remember', tokens(30), ...stated)
  const merged = await place.errand('memory', 'merge', 'task/fix-auth')
  expect(merged.out).toMatch(
    /^task\/fix-auth: 2 facts merged, 1 in conflict with another\n {2}\w{8} contradicts \w{8} \(numbers\): both stay, disputed\n$/,
  )
  expect(cells(await place.errand('memory'), 1)).toEqual([
    ['sure', 'category', 'who', 'fact'],
    ['0.70 disputed', 'insight', tokens(45)],
    ['0.80 disputed', 'insight', tokens(30)],
  ])
  expect(json(await place.errand('memory', 'merge', 'task/fix-auth', '--into', 'main', '--json'))).toMatchObject({
    merged: 0,
    conflicts: [],
  })
})

it('errand memory merge --only durable merges durable facts only', async () => {
  await using place = await empty()
  const state = (...args: string[]) => place.errand('memory', 'remember', ...args, '--branch', 'task/fix-auth')
  await state('Dates are in UTC', '--category', 'decision', '--confidence', '.9')
  await state('The form is slow')
  await place.errand('memory', 'consolidate', 'task', '--task', '#1')
  const merged = await place.errand('memory', 'merge', 'task/fix-auth', '--only', 'durable')
  expect(merged.out).toBe('task/fix-auth: 1 fact merged\n')
  expect(jsonLines(await place.errand('memory', '--json')).map(({ text }) => text)).toEqual(['Dates are in UTC'])
})

it('S2-082 S2-106 errand memory consolidate task and project choose and combine facts', async () => {
  await using place = await empty()
  await place.errand('add', 'Fix more', '--team')
  for (const branch of ['task/fix-auth', 'task/fix-more'])
    await place.errand('memory', 'remember', 'Dates are in UTC', '--category', 'decision', '--branch', branch)
  const judged = await place.errand('memory', 'consolidate', 'task', '--task', '#1')
  expect(judged.out).toMatch(/^0 durable, 1 not\n {2}\S/)
  const found = await place.errand('memory', 'consolidate', 'project', '--task', '#1', '--task', '#2')
  expect(found.out).toMatch(/^1 new, 1 durable, 0 not\n {2}\S/)
  expect(jsonLines(await place.errand('memory', '--json'))).toMatchObject([{ confidence: 0.8, category: 'decision' }])
  const onBranch = ['consolidate', 'project', '--branch', 'main', '--json']
  expect(json(await place.errand('memory', ...onBranch))).toMatchObject({ durable: [] })
})

it('errand memory search finds facts by words, the best match first', async () => {
  await using place = await consolidatedMemory()
  const { out } = await place.errand('memory', 'search', 'minutes', 'tokens')
  expect(cells({ out }, 2)).toEqual([
    ['sure', 'category', 'branch', 'fact'],
    ['0.90', 'decision', 'main', tokens(30)],
  ])
  const below = await place.errand('memory', 'search', 'form', '--branch', 'task/fix-auth', '--limit', '1', '--json')
  expect(jsonLines(below)).toMatchObject([{ text: 'The form is slow', branch: 'task/fix-auth' }])
  expect(await place.errand('memory', 'search', 'zeppelin')).toEqual({ code: 0, out: 'No fact matches.\n', err: '' })
})

it('errand memory removes escape sequences from facts', async () => {
  await using place = await empty()
  const harmful = ['\u001b', '\u0007', '\u202e']
  const evil = 'evil \u001b]0;title\u0007\u001b[31mname\u202e\nsecond line'
  await place.errand('add', evil, '--team')
  await place.errand('task', 'join', '#2', '--as', evil)
  const observe = ['--session', evil, '--type', 'decision', '--task', '#2', '--agent', evil, '--outcome', evil]
  await place.errand('memory', 'observe', ...observe, `${evil} 30`)
  await place.errand('task', 'leave', '#2', '--as', evil)
  await place.errand('memory', 'remember', `${evil} 45`, '--category', evil)
  const branch = jsonLines(await place.errand('memory', 'branches', '--json'))[2].name
  await place.errand('memory', 'merge', branch)
  const facts = jsonLines(await place.errand('memory', '--json'))
  expect(facts).toHaveLength(2)
  for (const args of [
    ['--inherited'],
    ['--branch', branch],
    ['branches'],
    ['history'],
    ['search', 'evil'],
    ['why', facts[0].id],
    ['why', facts[1].id],
    ['consolidate', 'session', '--session', evil],
    ['consolidate', 'agent', '--agent', evil, '--task', '#2'],
    ['consolidate', 'task', '--task', '#2'],
    ['merge', branch],
    ['archive', branch],
  ]) {
    const { code, out } = await place.errand('memory', ...args)
    expect({ args, code, harm: harmful.some((character) => out.includes(character)) }).toEqual({
      args,
      code: 0,
      harm: false,
    })
  }
  // A fact of two lines is printed on one, so that no part of it looks like another row.
  expect((await place.errand('memory')).out.split('\n').filter((line) => line.startsWith('second'))).toEqual([])
})
