// The abilities for local files: what can be read, and what cannot.
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { createBus } from '../../../src/bus/bus.ts'
import { fileAbilities } from '../../../src/commands/files/file-abilities.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { runs } from '../../tier.ts'

const secret = 'the secret of the house'

/** A folder with hidden files, and a secret file beside it. */
function setup() {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), 'errand-files-')))
  onTestFinished(() => rmSync(outer, { recursive: true, force: true }))
  const root = join(outer, 'root')
  mkdirSync(join(root, 'notes/deep'), { recursive: true })
  mkdirSync(join(root, '.git'))
  mkdirSync(join(outer, 'root-beside'))
  writeFileSync(join(outer, 'secret.txt'), secret)
  writeFileSync(join(outer, 'root-beside/secret.txt'), secret)
  writeFileSync(join(root, '.env'), secret)
  writeFileSync(join(root, '.git/config'), secret)
  writeFileSync(join(root, 'a.txt'), 'Alpha\nbeta\n')
  writeFileSync(join(root, 'notes/plan.md'), 'one\r\ntwo alpha\r\nthree')
  writeFileSync(join(root, 'notes/deep/end.md'), 'ALPHA at the end\n')
  const bus = createBus()
  for (const ability of fileAbilities(root)) bus.register(ability)
  const call = async (id: string, input: object): Promise<any> => await bus.call(`fs:${id}`, input)
  const link = (target: string, name: string) => symlinkSync(target, join(root, name))
  return { outer, root, call, link, bus }
}

const refusal = async (work: Promise<unknown>): Promise<string> =>
  await work.then(
    (value) => `gave ${JSON.stringify(value)}`,
    (error: Error & { code: string }) =>
      `${error.code} ${error.message} ${String((error.cause as Error | undefined)?.message ?? '')}`,
  )

it('fs:list returns files and folders from the top, without hidden ones, to the requested depth', async () => {
  const { call } = setup()
  expect(await call('list', {})).toEqual({
    entries: [
      { path: 'a.txt', kind: 'file', bytes: 11 },
      { path: 'notes', kind: 'folder' },
    ],
    truncated: false,
  })
  const { entries } = await call('list', { path: './notes/', depth: 2 })
  expect(entries.map((entry: { path: string }) => entry.path)).toEqual([
    'notes/deep',
    'notes/deep/end.md',
    'notes/plan.md',
  ])
})

it('fs:list omits a ledger that this process has open, since reading the file directly would drop its locks', async () => {
  const { call, root } = setup()
  const ledger = await openLedger(join(root, 'tasks.db'))
  await ledger.register('engine-1')
  const names = async () =>
    (await call('list', {})).entries.flatMap((entry: { path: string }) => (/tasks/.test(entry.path) ? entry.path : []))
  expect(await names()).toEqual([])
  for (const path of ['tasks.db', 'tasks.db-shm', 'tasks.db-engine-1']) {
    expect(await refusal(call('read', { path }))).toMatch(/^FORBIDDEN/)
  }
  await ledger.close()
  expect(await names()).toEqual(['tasks.db'])
})

it('fs:list returns at most 500 entries and says so', async () => {
  const { call, root } = setup()
  mkdirSync(join(root, 'many'))
  for (let n = 0; n < 501; n++) writeFileSync(join(root, `many/${n}`), '')
  const { entries, truncated } = await call('list', { path: 'many' })
  expect([entries.length, truncated]).toEqual([500, true])
})

it('fs:list does not follow links in circles', async () => {
  const { call, link } = setup()
  link('.', 'again')
  const { entries } = await call('list', { depth: 8 })
  expect(entries.map((entry: { path: string }) => entry.path)).toContain('again')
  expect(entries).toHaveLength(6)
  expect((await call('search', { text: 'beta' })).matches).toHaveLength(1)
})

it('fs:read returns the requested lines, their numbers and the total', async () => {
  const { call } = setup()
  expect(await call('read', { path: 'notes/plan.md', fromLine: 2, lines: 1 })).toEqual({
    text: 'two alpha',
    fromLine: 2,
    toLine: 2,
    totalLines: 3,
    cutCharacters: 0,
  })
  expect(await call('read', { path: 'notes/plan.md', fromLine: 9 })).toMatchObject({
    text: '',
    toLine: 0,
    totalLines: 3,
  })
})

it('fs:read limits the text that one call returns', async () => {
  const { call, root } = setup()
  writeFileSync(join(root, 'wide'), `${'x'.repeat(60_000)}\nnext`)
  expect(await call('read', { path: 'wide' })).toMatchObject({ toLine: 1, totalLines: 2, cutCharacters: 10_000 })
  writeFileSync(join(root, 'long'), 'y'.repeat(999).concat('\n').repeat(100))
  expect(await call('read', { path: 'long' })).toMatchObject({ toLine: 50, totalLines: 100, cutCharacters: 0 })
})

it('fs:read refuses binary files, files that are too large, folders, and paths that do not exist', async () => {
  const { call, root } = setup()
  writeFileSync(join(root, 'binary'), Buffer.from([1, 0, 2]))
  writeFileSync(join(root, 'latin'), Buffer.from([0xe4]))
  writeFileSync(join(root, 'large'), Buffer.alloc(4 * 1024 * 1024 + 1, 'x'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  expect(await refusal(call('read', { path: 'binary' }))).toMatch(/is not text/)
  expect(await refusal(call('read', { path: 'latin' }))).toMatch(/is not text/)
  expect(await refusal(call('read', { path: 'large' }))).toMatch(/files of more than 4194304 are not read/)
  expect(await refusal(call('read', { path: 'pipe' }))).toMatch(/is not a file/)
  expect(await refusal(call('read', { path: 'notes' }))).toMatch(/is not a file/)
  expect(await refusal(call('read', { path: 'nowhere' }))).toMatch(/There is no file or folder nowhere/)
  expect(await refusal(call('read', { path: 'a\0.txt' }))).not.toMatch(/^gave/)
})

it('fs:search finds lines in a folder and all folders below it, or in one file', async () => {
  const { call } = setup()
  const found = (result: { matches: Array<{ path: string; line: number }> }) =>
    result.matches.map(({ path, line }) => `${path}:${line}`)
  expect(found(await call('search', { text: 'alpha' }))).toEqual(['a.txt:1', 'notes/plan.md:2', 'notes/deep/end.md:1'])
  expect(found(await call('search', { text: 'alpha', ignoreCase: false }))).toEqual(['notes/plan.md:2'])
  expect(found(await call('search', { text: 'alpha', path: 'notes/deep' }))).toEqual(['notes/deep/end.md:1'])
  expect(found(await call('search', { text: 'alpha', path: 'a.txt' }))).toEqual(['a.txt:1'])
  expect(found(await call('search', { text: '.*' }))).toEqual([])
})

it('fs:search says when there may be more matches', async () => {
  const { call, root } = setup()
  writeFileSync(join(root, 'many'), 'needle\n'.repeat(101))
  const { matches, truncated } = await call('search', { text: 'needle' })
  expect([matches.length, truncated]).toEqual([100, true])
})

it.each([
  '../secret.txt',
  'notes/../../secret.txt',
  '../root-beside/secret.txt',
  '.env',
  '.git/config',
  'notes/../.env',
  'out-file',
  'out-folder/secret.txt',
  'to-hidden',
  'chain',
  '/etc/passwd',
])('the file abilities do not read, list or search %s', async (path) => {
  const { call, link, outer } = setup()
  link(join(outer, 'secret.txt'), 'out-file')
  link(outer, 'out-folder')
  link('.env', 'to-hidden')
  link('out-file', 'chain')
  for (const id of ['read', 'list', 'search']) {
    const said = await refusal(call(id, id === 'search' ? { path, text: 'secret' } : { path }))
    expect(said).not.toMatch(/^gave/)
    expect(said).not.toContain(secret)
    expect(said).toMatch(/may not be read|There is no file/)
  }
  expect(JSON.stringify(await call('list', { depth: 8 }))).not.toMatch(/out-|to-hidden|chain|env|git/)
  expect((await call('search', { text: 'secret' })).matches).toEqual([])
})

it('the file abilities do not read or search a file outside of their folder through a hard link', async () => {
  const { call, outer, root } = setup()
  linkSync(join(outer, 'secret.txt'), join(root, 'notes/second-name.txt'))
  const said = await refusal(call('read', { path: 'notes/second-name.txt' }))
  expect(said).toMatch(/^FORBIDDEN .*it has 2 names \(hard links\)/)
  expect(said).not.toContain(secret)
  expect((await call('search', { text: 'secret' })).matches).toEqual([])
})

it('V-04 the file abilities report a path outside of their folder like one that does not exist, and never name the folder', async () => {
  const { call, link, outer } = setup()
  const there = await refusal(call('read', { path: '../secret.txt' }))
  const not = await refusal(call('read', { path: '../nothing.txt' }))
  expect(there.replaceAll('secret', 'nothing')).toBe(not)
  // Links that lead out do not help either.
  link(outer, 'out')
  link(join(outer, 'secret.txt'), 'secret-link')
  link(join(outer, 'nothing.txt'), 'nothing-link')
  for (const way of ['out/secret.txt', 'secret-link', 'out/secret.txt/x']) {
    const [found, missing] = [way, way.replace('secret', 'nothing')]
    const refusals = await Promise.all([found, missing].map((path) => refusal(call('read', { path }))))
    expect(refusals[0]?.replaceAll('secret', 'nothing')).toBe(refusals[1])
  }
  for (const path of ['../secret.txt', 'nowhere', 'notes', '.env']) {
    expect(await refusal(call('read', { path }))).not.toContain(outer)
  }
})

it('the file abilities never reach a path outside of their folder, whatever the path', async () => {
  const { call, link, outer } = setup()
  link(outer, 'up')
  const way = fc.array(fc.constantFrom('..', '.', 'up', 'notes', '', 'root'), { maxLength: 4 })
  const end = fc.constantFrom('secret.txt', '.env', '.git/config', 'root-beside/secret.txt', '.')
  await fc.assert(
    fc.asyncProperty(way, end, fc.boolean(), async (parts, last, fromTop) => {
      const path = [...(fromTop ? [outer] : []), ...parts, last].join('/')
      for (const id of ['read', 'list']) expect(await refusal(call(id, { path }))).not.toMatch(/^gave.*secret/)
    }),
    { numRuns: runs(60, 300) },
  )
})

it('fileAbilities refuses a folder that does not exist', () => {
  const { root } = setup()
  expect(() => fileAbilities(join(root, 'nowhere'))).toThrow(/The folder .*nowhere does not exist/)
  expect(() => fileAbilities(join(root, 'a.txt'))).toThrow(/is not a folder/)
})
