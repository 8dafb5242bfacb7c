-- How many rows of each block of a calling list are in which state: a page deep in one state begins where these
-- say, so the rows before it are not counted one by one. Positions 1 to 4096 are block 0.
create table campaign_blocks (
    campaign text not null,
    list bigint not null,
    state text not null,
    block bigint not null,
    workspace text not null,
    rows bigint not null,
    primary key (campaign, list, state, block)
)/*sqlite*/ without rowid/*end*/;
insert into campaign_blocks (campaign, list, state, block, workspace, rows)
    select campaign, list, state, (position - 1) / 4096, min(workspace), count(*) from campaign_rows group by 1, 2, 3, 4;
