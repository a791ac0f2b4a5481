// Memory: observations, facts and their indexes, and the record of decisions about them. It has no foreign key to tasks, because it
// outlives purged ones.
import { type Compilable, sql } from 'kysely'
import { type Guard, guardTrigger, raw, required, type Spelling } from './migration.ts'

export function memoryTables(spelling: Spelling): Compilable[] {
  return [
    ...branchTable(spelling),
    ...observationTable(spelling),
    ...factTable(spelling),
    ...factWordTable(spelling),
    ...factTextTable(spelling),
    ...factVectorTable(spelling),
    ...consolidationTables(spelling),
    ...memoryGuards(spelling),
  ]
}

const memorable = sql.raw(`type in ('insight', 'decision', 'discovery')`)
const comparable = sql.raw(`status = 'active' and category <> 'summary'`)

function branchTable({ db, integer, risingType, rising, strict }: Spelling): Compilable[] {
  const { schema } = db
  return [
    strict(
      schema
        .createTable('branch')
        .addColumn('seq', risingType, rising)
        .addColumn('name', 'text', (column) => column.notNull().unique())
        .addColumn('parent', 'text', (column) => column.references('branch.name'))
        .addColumn('description', 'text', required)
        .addColumn('status', 'text', (column) =>
          column.notNull().check(sql`status in ('active', 'merged', 'archived')`),
        )
        .addColumn('task_id', 'text')
        .addColumn('agent_id', 'text')
        .addColumn('created_at', integer, required)
        .addColumn('updated_at', integer, required)
        .addCheckConstraint('branch_main_is_the_root', sql`(parent is null) = (name = 'main')`)
        .addCheckConstraint('branch_main_is_active', sql`name <> 'main' or status = 'active'`)
        .addCheckConstraint('branch_is_not_its_parent', sql`parent <> name`),
    ),
    schema.createIndex('branch_child').on('branch').columns(['parent', 'seq']),
    schema
      .createIndex('branch_of_task')
      .on('branch')
      .columns(['task_id', 'seq'])
      .where(sql.ref('task_id'), 'is not', null),
    raw(
      db,
      `insert into branch (name, parent, description, status, task_id, agent_id, created_at, updated_at)
       values ('main', null, '', 'active', null, null, 0, 0)`,
    ),
  ]
}

function observationTable({ db: { schema }, integer, risingType, rising, strict }: Spelling): Compilable[] {
  const pending = (name: string, columns: string[]) =>
    schema
      .createIndex(name)
      .on('observation')
      .columns(columns)
      .where(sql<boolean>`consolidated_by is null and ${memorable}`)
  return [
    strict(
      schema
        .createTable('observation')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('session_id', 'text', required)
        .addColumn('branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('type', 'text', (column) =>
          column.notNull().check(sql`type in ('tool_use', 'discovery', 'decision', 'error', 'insight')`),
        )
        .addColumn('content', 'text', required)
        .addColumn('outcome', 'text')
        .addColumn('task_id', 'text')
        .addColumn('agent_id', 'text')
        .addColumn('stated_by', 'text', required)
        .addColumn('created_at', integer, required)
        .addColumn('consolidated_by', 'text'),
    ),
    pending('observation_pending', ['session_id', 'branch', 'seq']),
    pending('observation_pending_on', ['branch', 'seq', 'session_id']),
    schema.createIndex('observation_on').on('observation').columns(['branch', 'seq']),
    schema.createIndex('observation_of_session').on('observation').columns(['session_id', 'seq']),
    ...['task', 'agent'].map((whose) =>
      schema
        .createIndex(`observation_of_${whose}`)
        .on('observation')
        .columns([`${whose}_id`, 'seq'])
        .where(sql.ref(`${whose}_id`), 'is not', null),
    ),
  ]
}

function factTable({ db: { schema }, integer, orderedText, risingType, rising, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('fact')
        .addColumn('seq', risingType, rising)
        .addColumn('id', orderedText, (column) => column.notNull().unique())
        .addColumn('branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('text', 'text', required)
        .addColumn('category', 'text', required)
        .addColumn('confidence', integer, (column) => column.notNull().check(sql`confidence between 0 and 100`))
        .addColumn('stated_by', 'text', required)
        .addColumn('session_id', 'text')
        .addColumn('task_id', 'text')
        .addColumn('agent_id', 'text')
        .addColumn('observation_id', 'text')
        .addColumn('origin_id', 'text')
        .addColumn('status', 'text', (column) => column.notNull().check(sql`status in ('active', 'superseded')`))
        .addColumn('successor_id', 'text')
        .addColumn('disputed', integer, (column) => column.notNull().check(sql`disputed in (0, 1)`))
        .addColumn('verdict', 'text', (column) => column.check(sql`verdict in ('durable', 'ephemeral')`))
        .addColumn('compared_by', 'text')
        .addColumn('merged_to', 'text')
        .addColumn('merged_confidence', integer)
        .addColumn('subject', 'text', required)
        .addColumn('created_at', integer, required)
        .addColumn('updated_at', integer, required)
        .addCheckConstraint('fact_superseded_has_successor', sql`(successor_id is not null) = (status = 'superseded')`)
        .addCheckConstraint('fact_is_not_its_successor', sql`successor_id <> id`),
    ),
    schema.createIndex('fact_on').on('fact').columns(['branch', 'status', 'seq']),
    schema
      .createIndex('fact_subject')
      .on('fact')
      .columns(['branch', 'subject'])
      .where(sql<boolean>`${comparable} and subject <> ''`),
    schema
      .createIndex('fact_compared')
      .on('fact')
      .columns(['branch', 'compared_by', 'seq'])
      .where(sql<boolean>`${comparable}`),
    schema
      .createIndex('fact_unmerged')
      .on('fact')
      .columns(['branch', 'seq'])
      .where(sql<boolean>`${comparable} and merged_confidence is distinct from confidence`),
    schema
      .createIndex('fact_summary')
      .on('fact')
      .columns(['branch', 'agent_id'])
      .where(sql<boolean>`status = 'active' and category = 'summary'`),
  ]
}

/** The facts in which a word is found: active ones that are not summaries, by their number of words. */
function factWordTable({ db, integer, keyOnly }: Spelling): Compilable[] {
  return [
    keyOnly(
      db.schema
        .createTable('fact_word')
        .addColumn('branch', integer, required)
        .addColumn('word', 'text', required)
        .addColumn('size', integer, required)
        .addColumn('fact', integer, required)
        .addPrimaryKeyConstraint('fact_word_key', ['branch', 'word', 'size', 'fact']),
    ),
  ]
}

/**
 * The same facts for searches, by the stems of their words. Each database has an index of its own for that, which the builder cannot
 * express. FTS5 keeps no text (the fact has it) and no positions. `ascii` counts all non-ASCII characters as letters, which is right
 * because it receives words and blanks only, and no Unicode table of a later version then changes what a word is.
 */
function factTextTable({ kind, db }: Spelling): Compilable[] {
  const texts =
    kind === 'sqlite'
      ? [
          `create virtual table fact_text using fts5(
             words, content = '', contentless_delete = 1, detail = none, tokenize = 'porter ascii')`,
        ]
      : [
          `create table fact_text (fact bigint not null primary key, branch bigint not null, words text[] not null)`,
          `create index fact_text_words on fact_text using gin (words)`,
        ]
  return texts.map((text) => raw(db, text))
}

function factVectorTable({ db, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      db.schema
        .createTable('fact_vector')
        .addColumn('fact', integer, (column) => column.notNull().references('fact.seq'))
        .addColumn('model', 'text', required)
        .addColumn('vector', 'text', required)
        .addPrimaryKeyConstraint('fact_vector_key', ['fact', 'model']),
    ),
  ]
}

function consolidationTables({ db: { schema }, integer, real, risingType, rising, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('consolidation')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('type', 'text', (column) =>
          column
            .notNull()
            .check(sql`type in ('session_end', 'agent_complete', 'task_checkpoint', 'project_checkpoint', 'merge')`),
        )
        .addColumn('source_branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('target_branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('session_id', 'text')
        .addColumn('agent_id', 'text')
        .addColumn('task_id', 'text')
        .addColumn('trigger', 'text', required)
        .addColumn('observations_processed', integer, required)
        .addColumn('facts_created', integer, required)
        .addColumn('facts_updated', integer, required)
        .addColumn('facts_deduplicated', integer, required)
        .addColumn('durable', integer)
        .addColumn('ephemeral', integer)
        .addColumn('merged', integer)
        .addColumn('rejected', integer)
        .addColumn('summary', 'text')
        .addColumn('at', integer, required),
    ),
    schema.createIndex('consolidation_of_type').on('consolidation').columns(['type', 'seq']),
    schema.createIndex('consolidation_from').on('consolidation').columns(['source_branch', 'seq']),
    schema.createIndex('consolidation_into').on('consolidation').columns(['target_branch', 'seq']),
    ...['task', 'agent', 'session'].map((whose) =>
      schema
        .createIndex(`consolidation_of_${whose}`)
        .on('consolidation')
        .columns([`${whose}_id`, 'seq'])
        .where(sql.ref(`${whose}_id`), 'is not', null),
    ),
    strict(
      schema
        .createTable('decision')
        .addColumn('seq', risingType, rising)
        .addColumn('consolidation_id', 'text', (column) => column.notNull().references('consolidation.id'))
        .addColumn('kind', 'text', (column) =>
          column
            .notNull()
            .check(
              sql`kind in ('created', 'boosted', 'confirmed', 'superseded', 'summarized', 'carried', 'judged', 'contradicted', 'settled')`,
            ),
        )
        .addColumn('fact_id', 'text', required)
        .addColumn('other_id', 'text')
        .addColumn('observation_id', 'text')
        .addColumn('similarity', real)
        .addColumn('before', integer)
        .addColumn('after', integer)
        .addColumn('note', 'text'),
    ),
    schema.createIndex('decision_on').on('decision').columns(['fact_id', 'seq']),
    schema
      .createIndex('decision_naming')
      .on('decision')
      .columns(['other_id', 'seq'])
      .where(sql.ref('other_id'), 'is not', null),
    schema.createIndex('decision_of').on('decision').columns(['consolidation_id', 'seq']),
  ]
}

/** The text of a fact never changes, a superseded one never returns, and the record is neither rewritten nor shortened. */
function memoryGuards(spelling: Spelling): Compilable[] {
  const kept = ['consolidation', 'decision'].flatMap((table) => [
    { name: `${table}_is_immutable`, table, on: 'update', message: `a ${table} never changes` },
    { name: `${table}_is_kept`, table, on: 'delete', message: `a ${table} is never deleted` },
  ])
  const guards: Guard[] = [
    {
      name: 'fact_says_the_same',
      table: 'fact',
      on: 'update of text, branch, category',
      when: 'old.text <> new.text or old.branch <> new.branch or old.category <> new.category',
      message: 'what a fact says never changes',
    },
    {
      name: 'fact_stays_superseded',
      table: 'fact',
      on: 'update of status',
      when: `old.status = 'superseded' and new.status <> old.status`,
      message: 'a superseded fact never returns',
    },
    {
      name: 'observation_is_consumed_once',
      table: 'observation',
      on: 'update of consolidated_by',
      when: 'old.consolidated_by is not null and new.consolidated_by is distinct from old.consolidated_by',
      message: 'an observation is taken up once',
    },
    ...kept,
  ]
  return guards.flatMap((guard) => guardTrigger(spelling, guard))
}
